"""What a result says of its data: which samples, made of which bytes, by which reviewed text."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from registry.base.conversion import convert
from registry.base.digest import digest_of
from registry.base.materials import Material, State
from registry.installation import installed_release

__all__ = ["AppliedCorrections", "CatalogVersion", "Provenance", "read_provenance"]

_DIGEST = "digest"


def _installed_release() -> str:
    try:
        return installed_release()
    except PackageNotFoundError:  # the source tree itself is on the path
        return "unknown"


class CatalogVersion(Struct, frozen=True, kw_only=True):
    """Which version of a catalog the manifest of a dataset was in."""

    repository: str | None = None
    """URL of the repository, without a user or a password; None if it has no remote one."""
    commit: str | None = None
    """Commit that was checked out; None outside a repository."""
    changed: bool = False
    """Whether manifests or the lockfile had changes that were in no commit."""
    package: str | None = None
    """The installed package that has the catalog, if it is none of a repository."""


class AppliedCorrections(Struct, frozen=True, kw_only=True):
    """Which corrections the samples have."""

    file: str
    """Path relative to the index."""
    sha256: str
    """Digest of its bytes."""
    changed: int = 0
    """Number of samples with another value."""
    dropped: int = 0
    """Number of samples that were left out."""


class Provenance(Struct, frozen=True, kw_only=True):
    """Where the samples of a dataset come from, equal on every machine that has the same ones.

    It names no folder of a machine, no user and no secret. `as_data` gives it as JSON, for logs.
    """

    name: str | None = None
    """The dataset's."""
    version: str | None = None
    """`N-X` as in the lockfile; None if it has none for these samples."""
    samples: int
    """Number of samples."""
    ordered: str | None = None
    """Digest of the samples in their order; None if samples of other classes were changed."""
    fingerprint: str | None = None
    """Digest of all that determines the samples without their view: the key in the cache."""
    manifest: str | None = None
    """Digest of the resolved manifest, with the overrides of the call."""
    state: State = "floating"
    """Whether the lockfile pins the samples, or the manifest names commits."""
    pins: tuple[Material, ...] = ()
    """The files and commits that were read, the lookup table and the corrections last."""
    view: dict[str, Any] = {}
    """Order, choice order, limit and ids, as far as they differ from those of the source."""
    split: str | None = None
    """Split of the source."""
    fewshot: dict[str, Any] | None = None
    """Which examples the samples have: the settings, and the fingerprint of their dataset."""
    corrections: AppliedCorrections | None = None
    """The corrections that were applied; None also where the call asked for none."""
    original: bool = False
    """Whether the call asked for the samples without corrections that the manifest has."""
    modified: tuple[str, ...] = ()
    """What was done with the dataset after it was opened: filtered, sorted, a sample changed."""
    license: str | None = None
    """As the manifest states it; NONE if its source states none."""
    license_url: str | None = None
    """Where the license was read, or none was found."""
    access: str | None = None
    """open, gated or agreement."""
    catalog: CatalogVersion | None = None
    """Where the manifest was; None if the dataset is not of a catalog."""
    release: str = msgspec.field(default_factory=_installed_release)
    """Version of this package."""

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON data without what is not known, and with its own digest."""
        data = _plain(self)
        return {**data, _DIGEST: digest_of(data)}


def read_provenance(data: Any) -> Provenance:
    """Return the provenance that `as_data` gave.

    Raises:
        ValueError: it is not a provenance, or it was edited, so that its digest is another.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get(_DIGEST), str):
        raise ValueError("not a provenance: an object with a `digest` is expected")
    rest = {key: value for key, value in data.items() if key != _DIGEST}
    if digest_of(rest) != data[_DIGEST]:
        raise ValueError("it was edited by hand: its digest does not fit its other values")
    try:
        # Keys of newer releases are left alone: the digest above covers them.
        return convert(rest, Provenance)
    except msgspec.ValidationError as error:
        raise ValueError(f"not a provenance of this release: {error}") from error


def _plain(value: Any) -> Any:
    """Return a Struct as JSON data, without what it doesn't have."""
    if isinstance(value, Struct):
        pairs = {key: _plain(item) for key, item in asdict(value).items()}
        # 0 equals False: no samples and no bytes are known.
        known = {key: item for key, item in pairs.items() if item is not False}
        return {key: item for key, item in known.items() if item not in (None, [], {})}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value

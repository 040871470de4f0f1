"""Which locations a requested path can stand for."""

from __future__ import annotations

import time

import pytest

from registry.lockfile.matching import matches


@pytest.mark.parametrize(
    ("requested", "location"),
    [
        ("data/a.csv", "data/a.csv"),
        ("data/*.csv", "data/a.csv"),
        ("data/[ab].csv", "data/b.csv"),
        ("data/?.csv", "data/b.csv"),
        ("./data/*.csv", "data/a.csv"),
        ("../data/*.csv", "../data/a.csv"),
        ("/mnt/*/a.csv", "/mnt/x/a.csv"),
        ("data/**/*.csv", "data/a.csv"),
        ("data/**/*.csv", "data/x/y/a.csv"),
        ("data/**", "data/x/a.csv"),
        ("folder", "folder/data/train.parquet"),
        ("folder/", "folder/a.csv"),
        ("package:words/data/*.csv", "package:words/data/a.csv"),
        ("s3://bucket/qa/*.csv.gz", "s3://bucket/qa/1.csv.gz"),
        ("s3a://bucket/qa/*.csv.gz", "s3://bucket/qa/1.csv.gz"),
        ("memory://qa/*.csv", "memory:///qa/a.csv"),
        ("hf://datasets/a/b@main/*.csv", "hf://datasets/a/b@main/a.csv"),
        ("zip://*.csv::data.zip", "zip://a.csv::data.zip"),
        ("zip://in/**/*.csv::tar://x.zip::a.tar", "zip://in/a.csv::tar://x.zip::a.tar"),
    ],
)
def test_a_path_matches_what_it_can_expand_to(requested: str, location: str) -> None:
    assert matches(requested, location)


@pytest.mark.parametrize(
    ("requested", "location"),
    [
        ("data/*.csv", "/etc/hostname"),
        ("data/*.csv", "data/x/a.csv"),
        ("data/*.csv", "other/a.csv"),
        ("data/*", "data/.."),
        ("*/a.csv", "../a.csv"),
        ("**/*.csv", "../../a.csv"),
        ("data/**/a.csv", "data/../../a.csv"),
        ("folder", "folder/../secret"),
        ("folder", "folder2/a.csv"),
        ("data/a.csv", "data/b.csv"),
        ("*.csv", "s3://bucket/a.csv"),
        ("s3://bucket/*.csv", "s3://other/a.csv"),
        ("s3://bucket/*.csv", "https://bucket/a.csv"),
        ("s3://bucket/*.csv", "bucket/a.csv"),
        ("s3://bucket", "s3://bucket/a.csv"),
        ("zip://*.csv::data.zip", "zip://a.csv::other.zip"),
        ("zip://*.csv::data.zip", "tar://a.csv::data.zip"),
        ("zip://*.csv::data.zip", "a.csv"),
        ("data.zip", "zip://a.csv::data.zip"),
    ],
)
def test_a_path_matches_nothing_else(requested: str, location: str) -> None:
    assert not matches(requested, location)


def test_a_hostile_glob_takes_no_exponential_time() -> None:
    start = time.process_time()
    assert not matches("**/" * 200 + "b", "a/" * 200 + "c")
    assert not matches("*a" * 100 + "b", "a" * 300)
    assert time.process_time() - start < 2

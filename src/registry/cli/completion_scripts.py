"""The scripts by which shells complete: they ask `registry`, with the words before the cursor."""

from __future__ import annotations

__all__ = ["SCRIPTS"]

# bash 3.2, which macOS has, knows neither `mapfile` nor `compopt`. Names of datasets have none of
# the characters at which bash divides words (`COMP_WORDBREAKS`) but `=` in `--option=value`.
_BASH = r"""_registry_completion() {
    local kind='' line
    COMPREPLY=()
    {
        IFS= read -r kind
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done
    } < <(_REGISTRY_COMPLETE=bash "$1" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    case $kind in
        file) compopt -o default 2>/dev/null ;;
        dir) compopt -o dirnames 2>/dev/null ;;
    esac
}
complete -o bashdefault -F _registry_completion registry
"""

_ZSH = r"""#compdef registry
_registry() {
    local -a lines
    local kind
    lines=("${(@f)$(_REGISTRY_COMPLETE=zsh $words[1] "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    kind=$lines[1]
    shift lines
    case $kind in
        file) _files ;;
        dir) _files -/ ;;
        *) (( $#lines )) && _describe -V registry lines ;;
    esac
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
    _registry "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _registry registry
fi
"""

_FISH = r"""function __registry_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (env _REGISTRY_COMPLETE=fish $words[1] $words[2..-1] "$current" 2>/dev/null)
    switch "$lines[1]"
        case file
            __fish_complete_path "$current"
        case dir
            __fish_complete_directories "$current"
        case '*'
            printf '%s\n' $lines[2..-1]
    end
end
complete --command registry --no-files --arguments '(__registry_complete)'
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""Shell → its script."""

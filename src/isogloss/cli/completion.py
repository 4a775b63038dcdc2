"""isogloss completion: verbs, options and names in bash, zsh and fish.

The scripts call `isogloss` with the words up to the cursor and `_ISOGLOSS_COMPLETE` set to the name of the shell;
`main` then prints candidates, one per line. Where there are none, the shell completes files.
"""

from typing import Annotated

import typer

from isogloss.cli.options import say
from isogloss.errors import unknown

app = typer.Typer(add_completion=False)

SCRIPTS = {
    "bash": """_isogloss() {
    local IFS=$'\\n'
    COMPREPLY=($(_ISOGLOSS_COMPLETE=bash "$1" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _isogloss isogloss
""",
    "zsh": """#compdef isogloss
_isogloss() {
    local -a found
    found=("${(@f)$(_ISOGLOSS_COMPLETE=zsh "$words[1]" "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -z "$found" ]]; then _files; else compadd -Q -- $found; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _isogloss isogloss
""",
    "fish": """function __isogloss
    set -l words (commandline -opc) (commandline -ct)
    set -l found (_ISOGLOSS_COMPLETE=fish $words[1] $words[2..-1] 2>/dev/null)
    if set -q found[1]
        string join \\n -- $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c isogloss -f -a '(__isogloss)'
""",
}


@app.command()
def completion(shell: Annotated[str, typer.Argument(help="bash, zsh or fish.")]) -> None:
    """Print the script that completes verbs, options, tasks, languages, suites and systems in a shell.

    Add its output to the shell's start file: ~/.bashrc, ~/.zshrc, or, for fish, a
    file in ~/.config/fish/completions.

    \b
    Examples:
      isogloss completion bash >> ~/.bashrc
      isogloss completion zsh >> ~/.zshrc
      isogloss completion fish > ~/.config/fish/completions/isogloss.fish
    """
    if shell not in SCRIPTS:
        raise unknown("shell", shell, SCRIPTS)
    say(SCRIPTS[shell].rstrip())

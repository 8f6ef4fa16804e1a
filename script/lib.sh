# Sourced by the commands beside it: finds the checkout and a Python that Peyk can run on.
# shellcheck shell=sh

ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P) || exit 1
cd "$ROOT" || exit 1
VENV_PYTHON="$ROOT/.venv/bin/python"

# Prints the first interpreter that is new enough and can make virtual environments.
find_python() {
    for candidate in "${PYTHON:-}" python3.11 python3.12 python3.13 python3 python3.14 python; do
        [ -n "$candidate" ] || continue
        command -v "$candidate" >/dev/null 2>&1 || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 &&
            "$candidate" -c 'import ensurepip, sqlite3, venv' >/dev/null 2>&1; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

# prepare demo|test: a virtual environment in .venv with the locked packages of that purpose.
prepare() {
    interpreter=$(find_python) || {
        echo "Peyk needs Python 3.11 or newer with its venv module (on Debian: apt-get install python3 python3-venv); set PYTHON to its path if it is not found by itself." >&2
        exit 3
    }
    "$interpreter" -m script.bootstrap "$1" || exit $?
}

# The environment of a daily command: the file .env, if there is one, under what is already set.
load_environment() {
    if [ ! -x "$VENV_PYTHON" ]; then
        echo "Peyk is not set up in this checkout yet: run script/setup first." >&2
        exit 3
    fi
    [ -f "$ROOT/.env" ] || return 0
    while IFS= read -r line || [ -n "$line" ]; do
        name=${line%%=*}
        case $name in
            "$line" | '' | '#'* | *[!A-Za-z0-9_]*) continue ;;
        esac
        eval "[ -n \"\${$name+set}\" ]" || export "$name=${line#*=}"
    done <"$ROOT/.env"
}

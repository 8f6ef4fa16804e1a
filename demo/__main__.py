"""`script/demo`: set the stage, tell the story, show the proof, then serve the web application.

Exit codes: 0 the proof holds (or Ctrl-C while serving), 1 it does not, or something stopped working,
2 wrong arguments, 5 a port or the demo's folder is taken.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from demo import make_people, people, stage
from demo.show import Screen
from script import processes

if TYPE_CHECKING:
    from demo.story import Outcome

OK, BROKEN, TAKEN = 0, 1, 5
MAX_PEOPLE = 20_000


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line. Exits with 2 on a wrong one."""
    parser = argparse.ArgumentParser(prog="script/demo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--once", action="store_true", help="stop after the proof instead of serving")
    parser.add_argument(
        "--json", action="store_true", help="print the proof as JSON on the output (implies --once)"
    )
    parser.add_argument(
        "--people", type=_people, default=people.DEFAULT_ROWS, metavar="N", help="rows of the spreadsheet"
    )
    parser.add_argument("--cap", type=_cap, metavar="N", help="messages a day (100, more for a crowd)")
    parser.add_argument(
        "--server", action="store_true", help="PostgreSQL, Redis and Celery instead of the embedded mode"
    )
    parser.add_argument("--port", type=_port, default=8000, help="where to serve (default 8000)")
    parser.add_argument(
        "--folder", type=Path, default=stage.FOLDER, help="where to keep its files (emptied first)"
    )
    return parser.parse_args(arguments)


def _people(text: str) -> int:
    count = int(text)
    if not 10 <= count <= MAX_PEOPLE:
        raise argparse.ArgumentTypeError(f"from 10 to {MAX_PEOPLE}")
    return count


def _cap(text: str) -> int:
    cap = int(text)
    if not 1 <= cap <= MAX_PEOPLE:
        raise argparse.ArgumentTypeError(f"from 1 to {MAX_PEOPLE}")
    return cap


def _port(text: str) -> int:
    port = int(text)
    if not 1024 <= port <= 65535:
        raise argparse.ArgumentTypeError("from 1024 to 65535")
    return port


def run(options: argparse.Namespace, screen: Screen) -> int:
    """The whole demo. Raises StageError, Stuck and Stopped."""
    serves = not (options.once or options.json)
    if serves and not processes.is_port_free(options.port):
        screen.say(
            f"Port {options.port} is taken by another program: stop it, or name another port with --port."
        )
        return TAKEN
    with stage.build(options.folder.resolve(), screen.say, server=options.server) as built:
        if serves:
            built.manage("collectstatic", "--noinput", "--verbosity", "0")
        port = processes.free_port()
        outcome, sign_in = _tell(built, options.people, options.cap, port, screen)
        _conclude(outcome, screen)
        if options.json:
            print(outcome.as_json())
        built.stop()
        if serves:
            _serve_until_stopped(built, options.port, port, sign_in, screen)
    return OK if outcome.holds else BROKEN


def _tell(
    built: stage.Stage, rows: int, cap: int | None, port: int, screen: Screen
) -> tuple[Outcome, tuple[str, str]]:
    """The story on the built stage, and how to sign in afterwards."""
    stage.enter(built)
    from core import clock
    from demo import cast, story
    from demo.clockwork import Clockwork

    cap = cap or story.default_cap(rows)
    clockwork = Clockwork(built.clock_file, story.ZONE, story.poll)
    clockwork.set(story.starting_moment(clock.SystemClock().now(), rows, cap))
    faults = built.folder / "faults.json"
    faults.write_text(json.dumps(story.faults(seed=1403), ensure_ascii=False), encoding="utf-8")
    stage.start_simulator(built, port=port, faults=faults, accelerated=True)
    stage.start_worker(built, accelerated=True)
    actors = cast.gather(f"http://127.0.0.1:{port}")
    file = make_people.DEFAULT_FILE
    if rows != people.DEFAULT_ROWS:
        file = built.folder / "people.xlsx"
        make_people.write(file, rows)
    teller = story.Teller(actors, clockwork, screen, file, built.record, rows, cap)
    return teller.tell(), (cast.EMAIL, actors.password)


def _conclude(outcome: Outcome, screen: Screen) -> None:
    screen.say()
    screen.say(
        f"The provider recorded {outcome.recorded} messages, at most {outcome.busiest_day} on one day."
    )
    screen.say("Walks ended as: " + _list(outcome.walks))
    screen.say("Messages ended as: " + _list(outcome.messages))
    screen.say()
    screen.say("The proof, against what the provider recorded:")
    screen.proof(outcome.checks)
    screen.say()
    screen.say(f"The story took {outcome.seconds:.1f} seconds.")


def _list(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _serve_until_stopped(
    built: stage.Stage, port: int, provider_port: int, sign_in: tuple[str, str], screen: Screen
) -> None:
    """Ctrl-C is how serving ends, and no failure; any other signal goes on up."""
    try:
        _serve(built, port, provider_port, sign_in, screen)
    except processes.Stopped as stopped:
        if not stopped.by_person:
            raise
        screen.say("Stopping ...")


def _serve(
    built: stage.Stage, port: int, provider_port: int, sign_in: tuple[str, str], screen: Screen
) -> None:
    """Everything again in real time, with the web application; until a signal comes or a part dies."""
    from django.db import connections

    connections.close_all()
    faults = built.folder / "faults.json"
    stage.start_simulator(built, port=provider_port, faults=faults, accelerated=False)
    stage.start_worker(built, accelerated=False)
    stage.start_tick_loop(built)
    stage.start_web(built, port)
    email, password = sign_in
    screen.say()
    screen.say(f"Peyk is at  http://127.0.0.1:{port}/")
    screen.say(f"  e-mail    {email}")
    screen.say(f"  password  {password}")
    screen.say("Ctrl-C ends everything.")
    while (dead := built.dead()) is None:
        time.sleep(0.5)
    raise stage.StageError(f"The {dead} process has ended by itself (see {built.log(dead)}).")


def main(arguments: Sequence[str]) -> int:
    """Entry point."""
    options = parse(arguments)
    screen = Screen()
    try:
        with processes.unwinding_on_signals():
            return run(options, screen)
    except stage.TakenError as error:
        screen.say(str(error))
        return TAKEN
    except stage.StageError as error:
        screen.say(str(error))
        return BROKEN
    except processes.Stopped as stopped:
        screen.say("Stopped; nothing is left running.")
        return stopped.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

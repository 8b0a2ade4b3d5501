"""A client of faultsim serve in Python, which needs no package: python client.py /tmp/faultsim."""

import json
import socket
import sys


class Faultsim:
    """Requests by name: ``sim.ask("ADVANCE", t=60)``."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rw", encoding="utf-8", newline="\n")

    def ask(self, request: str, **given: object) -> dict:
        self._lines.write(json.dumps({"request": request, **given}) + "\n")
        self._lines.flush()
        answer = json.loads(self._lines.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer


def main(path: str) -> None:
    sim = Faultsim(path)
    now = sim.ask("INIT")["init_time"]
    sim.ask("ADVANCE", t=now)
    (job,) = sim.ask("SUBMIT", jobs=[{"submit": now + 5, "size": 4, "estimate": 60}])["ids"]
    sim.ask("DOWN", node=0)
    for row in sim.ask("ADVANCE", t=now + 10)["changes"]:
        print(row["time"], row["kind"], row.get("id", ""), row["nodes"])
    for row in sim.ask("ROLLOUT", scheduler="easy:order=shortest", horizon=3600)["jobs"]:
        print(row["id"], row["state"], row["start"])
    sim.ask("KILL", id=job)
    sim.ask("END")


if __name__ == "__main__":
    main(sys.argv[1])

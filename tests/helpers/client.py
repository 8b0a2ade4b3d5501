"""A client of `faultsim serve` in a process of its own: `client.py ADDRESS`, requests as lines, replies as lines."""

import sys

import zmq


def main(address):
    context = zmq.Context()
    socket = context.socket(zmq.REQ)
    socket.setsockopt(zmq.RCVTIMEO, 60_000)
    socket.connect(address)
    for line in sys.stdin.buffer:
        socket.send(line.strip())
        sys.stdout.buffer.write(socket.recv() + b"\n")
    socket.close()
    context.term()


if __name__ == "__main__":
    main(sys.argv[1])

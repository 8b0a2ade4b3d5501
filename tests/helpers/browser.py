"""A real browser for tests: Debian's chromium, headless, through chromedriver's HTTP interface (W3C WebDriver).

It uses an empty profile and needs no package.
"""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
#: Why there is no browser; empty where there is one.
MISSING = (
    ""
    if CHROMIUM and DRIVER
    else "no chromium with chromium-driver here; Debian: apt-get install chromium chromium-driver"
)


class Browser:
    """A browser, for a ``with`` statement."""

    def __enter__(self) -> "Browser":
        self.profile = tempfile.mkdtemp(prefix="browser-")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(
            [DRIVER, f"--port={port}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.profile},
        )
        # Loopback, whatever proxy the environment names.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            self._wait()
            options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={self.profile}"]}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            self.session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if hasattr(self, "session"):
            self._call("DELETE", f"/session/{self.session}")
        self.driver.terminate()
        self.driver.wait(20)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _wait(self) -> None:
        for _ in range(200):
            try:
                if self._call("GET", "/status")["ready"]:
                    return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.05)
        raise RuntimeError("chromedriver does not answer")

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with self.opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:500]) from None

    def open(self, path: Path) -> None:
        """Open a file."""
        self._call("POST", f"/session/{self.session}/url", {"url": path.resolve().as_uri()})

    def screen(self, width: int, height: int, scheme: str = "light") -> None:
        """A window of this size, in pixels, of somebody who prefers this colour scheme."""
        self._devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self._devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def _devtools(self, command: str, **parameters: Any) -> Any:
        return self._call("POST", f"/session/{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def run(self, script: str) -> Any:
        """What the body of a function of JavaScript returns."""
        return self._call("POST", f"/session/{self.session}/execute/sync", {"script": script, "args": []})

    def click(self, selector: str) -> None:
        """Click on the first element that matches, as a person does."""
        found = self._call("POST", f"/session/{self.session}/element", {"using": "css selector", "value": selector})
        self._call("POST", f"/session/{self.session}/element/{next(iter(found.values()))}/click")

    def until(self, script: str, seconds: float = 15.0) -> None:
        """Wait until a script returns something true."""
        end = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > end:
                raise AssertionError(f"still not true after {seconds} s: {script}")
            time.sleep(0.05)

    def logged(self) -> list[str]:
        """What the page, or the browser about it, has said in its console since the last call."""
        entries = self._call("POST", f"/session/{self.session}/se/log", {"type": "browser"})
        return [f"{entry['level']}: {entry['message']}" for entry in entries]

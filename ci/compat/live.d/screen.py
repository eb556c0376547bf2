"""A command in a terminal, and what its screen shows."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading

import pyte

import memlog
import servers

COLUMNS, LINES = 110, 30


class Screen:
    """memlog in a terminal of 110 columns and 30 lines."""

    def __init__(self, *words):
        self.screen = pyte.Screen(COLUMNS, LINES)
        self.stream = pyte.ByteStream(self.screen)
        self.keys, its_end = pty.openpty()
        fcntl.ioctl(its_end, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.process = subprocess.Popen([memlog.COMMAND, *map(str, words)], stdin=its_end, stdout=its_end, stderr=its_end,
                                        env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1"}, start_new_session=True)
        os.close(its_end)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while True:
            try:
                got = os.read(self.keys, 65536)
            except OSError:
                return
            if not got:
                return
            self.stream.feed(got)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def shows(self, is_it):
        """What it shows, once that is a text, or makes a function true."""
        def there():
            text = self.text()
            is_so = is_it in text if isinstance(is_it, str) else is_it(text)
            memlog.expect(is_so or self.process.poll() is None, f"memlog top has ended: {text}")
            return is_so and text
        try:
            return servers.until("the screen shows it", there)
        except TimeoutError as late:
            wanted = is_it if isinstance(is_it, str) else "what was expected"
            raise memlog.Wrong(f"{late}: {wanted}: {self.text()}") from None

    def press(self, keys):
        os.write(self.keys, keys.encode())

    def ends(self):
        memlog.expect(self.process.wait(servers.LONGEST_SECONDS) == 0, f"memlog top ends with {self.process.returncode}: {self.text()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.keys)

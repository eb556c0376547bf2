"""Switches recording on and off in every process of a suite, at random moments."""

import multiprocessing
import random
import re
import subprocess

import run


class Switcher:
    """From when it is entered until it is left, when all that still runs is on."""

    def __init__(self, memlog, folder):
        self.memlog, self.folder = memlog, folder
        self.answers = multiprocessing.Value("q", 0)
        self.is_over = multiprocessing.Event()
        # What it takes is not the suite's, and it is none of the suite's processes.
        self.process = multiprocessing.Process(target=self.switch)

    def switch(self):
        while not self.is_over.wait(random.uniform(0.0, 0.1)):
            self.ask("stop")
            self.is_over.wait(random.uniform(0.0, 0.1))
            self.ask("start")

    def ask(self, word):
        """Who is busy elsewhere may do it later, and who ends does not answer."""
        asked = subprocess.run([self.memlog, "ctl", "--wait", "50ms", self.folder, word], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.answers.value += len(re.findall(rb": recording is (?:on|off)", asked.stdout))

    def __enter__(self):
        self.process.start()
        run.OTHERS.add(self.process.pid)
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.process.join()
        run.OTHERS.discard(self.process.pid)

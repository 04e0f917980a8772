#!/usr/bin/env python3
"""A stand-in for a client in a terminal: a box that is typed into, bracketed paste, modes and completion as the real ones have,
and a hook that is asked before a prompt is submitted. It loses, damages and delays keys, keeps words of a person in its box and
dies, all by a seed.

    client.py SEED LOG FOLDER HOOK...
"""

import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
import tty

DRAFTS = ["half a thought", "first line\nsecond line", "!ls", "look at @src", "指示の途中"]


class Client:
    def __init__(self, seed, log, folder, hook):
        self.random = random.Random(seed)
        self.log_path, self.folder, self.hook = log, folder, hook
        self.box, self.cursor = "", 0
        self.last_interrupt = 0.0
        self.escapes = 0
        self.dialog = False

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def title(self, sign):
        os.write(1, f"\033]2;{sign} stand-in\033\\".encode())

    def log(self, **what):
        with open(self.log_path, "a", encoding="utf-8") as file:
            file.write(json.dumps(what) + "\n")

    def insert(self, text):
        self.box = self.box[: self.cursor] + text + self.box[self.cursor :]
        self.cursor += len(text)

    def clear(self):
        self.box, self.cursor = "", 0

    def damaged(self, text):
        at = self.random.randrange(len(text))
        how = self.random.randrange(4)
        if how == 0:
            return text[:at] + text[at + 1 :]
        if how == 1:
            return text[:at] + "~" + text[at + 1 :]
        if how == 2:
            return text[:at] + "\n" + text[at:]
        return text[:at]

    def paste(self, text):
        if self.chance(6):
            return
        if self.chance(4):
            # A person types just now. Not `!`: what is behind it never comes to the hook, in any client.
            self.insert(self.random.choice([draft for draft in DRAFTS if draft[0] != "!"]))
        self.insert(self.damaged(text) if self.chance(6) and text else text)

    def key(self, key):
        if self.dialog:
            # A question of its own: everything is an answer to it, and Escape closes it.
            self.dialog = key != "\033"
            self.log(kind="dialog", key=key)
            return
        self.escapes = self.escapes + 1 if key == "\033" else 0
        if self.escapes == 2:
            self.dialog, self.escapes = not self.box, 0
            self.clear()
        elif key == "\x15":  # to the beginning of the line, or the line end before it
            start = self.box.rfind("\n", 0, self.cursor) + 1
            start = max(self.cursor - 1, 0) if start == self.cursor else start
            self.box, self.cursor = self.box[:start] + self.box[self.cursor :], start
        elif key == "\x01":
            self.cursor = self.box.rfind("\n", 0, self.cursor) + 1
        elif key == "\x0b":
            end = self.box.find("\n", self.cursor)
            end = len(self.box) if end < 0 else max(end, self.cursor + 1)
            self.box = self.box[: self.cursor] + self.box[end:]
        elif key == "\x03":
            if time.monotonic() - self.last_interrupt < 0.8:
                self.log(kind="ended by C-c")
                sys.exit(0)
            self.last_interrupt = time.monotonic()
            self.clear()
        elif key == "\r":
            if not self.chance(6):
                self.enter()
        elif key == "\x7f":
            self.box = self.box[: max(self.cursor - 1, 0)] + self.box[self.cursor :]
            self.cursor = max(self.cursor - 1, 0)
        elif key >= " " or key == "\n":
            self.insert(key)

    def enter(self):
        if self.chance(1):
            sys.exit(3)
        if self.chance(3):
            time.sleep(self.random.random())
        text = self.box
        if not text:
            return
        if text.endswith("\\"):
            self.box = text[:-1] + "\n"
            self.cursor = len(self.box)
            return
        completed = re.search(r"(^|\s)@(\w+)$", text)
        if completed:
            self.insert("/file ")
            return
        self.clear()
        if text.startswith("!"):
            self.log(kind="shell", text=text)
        elif text.strip() == "/clear":
            self.log(kind="cleared")
            self.tell("SessionStart", source="clear")
        elif re.match(r"/\w+(\s|$)", text):
            self.log(kind="command", text=text)
        else:
            self.submit(text)
        if self.chance(10):
            self.insert(self.random.choice(DRAFTS))

    def tell(self, name, **more):
        event = {"session_id": f"s-{os.getpid()}", "cwd": self.folder, "hook_event_name": name, **more}
        asked = subprocess.run(self.hook, input=json.dumps(event).encode(), capture_output=True, cwd=self.folder)
        return asked.returncode, json.loads(asked.stdout or b"{}")

    def submit(self, text):
        code, said = self.tell("UserPromptSubmit", prompt=text)
        if code == 2 or said.get("decision") == "block":
            self.log(kind="refused", text=text)
            return
        self.title("◐")
        found = re.search(r" Read (.*) and do what it says\.", text)
        content = None
        if found and os.path.exists(found[1]):
            with open(found[1], "rb") as file:
                content = hashlib.sha256(file.read()).hexdigest()
        self.log(kind="submitted", text=text, content=content)
        time.sleep(self.random.random() * 0.03)
        self.title("✳")
        # A turn that its user breaks off ends without a word.
        if not self.chance(3):
            self.tell("Stop", stop_hook_active=False)

    def run(self):
        tty.setraw(0)
        os.write(1, b"\033[?2004h")
        # As a client that takes a moment until it reads keys.
        time.sleep(self.random.random() * 0.2)
        self.title("✳")
        self.log(kind="started")
        self.tell("SessionStart", source="startup")
        pending, pasted = b"", None
        while True:
            data = os.read(0, 65536)
            if not data:
                return
            pending += data
            while pending:
                if pasted is not None:
                    text, end, rest = pending.partition(b"\033[201~")
                    if not end:
                        break
                    pending, pasted = rest, None
                    self.paste(text.decode(errors="replace"))
                elif pending.startswith(b"\033[200~"):
                    pending, pasted = pending[6:], b""
                elif pending[0] >= 0x80:
                    size = 2 if pending[0] < 0xE0 else 3 if pending[0] < 0xF0 else 4
                    key, pending = pending[:size], pending[size:]
                    self.key(key.decode(errors="replace"))
                elif pending in (b"\033[", b"\033[2", b"\033[20", b"\033[200"):
                    break
                elif pending[:64] == b"\x15" * 64:
                    # So many keys at once are taken for a paste, and control characters in it are dropped.
                    pending = pending.lstrip(b"\x15\x0b")
                elif pending[:12] == b"\x15" * 12 and self.chance(5):
                    # Some of the keys that empty the box are lost.
                    pending = pending[self.random.randrange(1, 8) :]
                else:
                    key, pending = pending[:1], pending[1:]
                    self.key(key.decode())


Client(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]).run()

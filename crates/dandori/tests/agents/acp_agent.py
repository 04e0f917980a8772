"""An agent of the Agent Client Protocol that plays a part, for what real ones cannot be made to show.

`python3 acp_agent.py PART`: keeps conversations and all it hears in $DANDORI_AGENT_HOME.
"""

import json
import os
import signal
import subprocess
import sys
import time

PART = sys.argv[1]
HOME = os.environ["DANDORI_AGENT_HOME"]
sent = 0


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    with open(f"{HOME}/heard.jsonl", "a") as log:
        log.write(line)
    return json.loads(line)


def answer(message, result):
    say({"id": message["id"], "result": result})


def update(session, **fields):
    say({"method": "session/update", "params": {"sessionId": session, "update": fields}})


def tell(session, text):
    update(session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def ask(method, **params):
    """Asks the client; its answer, or its error."""
    global sent
    sent += 1
    say({"id": f"a{sent}", "method": method, "params": params})
    while True:
        message = hear()
        if message.get("id") == f"a{sent}" and "method" not in message:
            return message.get("result"), message.get("error")


def run(session, command, *args):
    """A command in a terminal; its output, or why it was refused."""
    terminal, error = ask("terminal/create", sessionId=session, command=command, args=list(args))
    if error:
        return f"refused: {error['message']}"
    of = {"sessionId": session, "terminalId": terminal["terminalId"]}
    status, _ = ask("terminal/wait_for_exit", **of)
    output, _ = ask("terminal/output", **of)
    ask("terminal/release", **of)
    return f"{status['exitCode']}: {output['output']}"


def permission(session, call):
    options = [
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "once", "name": "Once", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    result, _ = ask("session/request_permission", sessionId=session, toolCall=call, options=options)
    return result["outcome"].get("optionId", "cancelled")


def write(session, path, content):
    result, error = ask("fs/write_text_file", sessionId=session, path=path, content=content)
    return f"refused: {error['message']}" if error else "written"


def works(session, cwd, prompt, told):
    """Writes a file, adds to it in a terminal, and remembers."""
    path = f"{cwd}/greeting.txt"
    content, _ = ask("fs/read_text_file", sessionId=session, path=path)
    before = content["content"] if content else ""
    tell(session, "I will write a greeting.")
    update(session, sessionUpdate="tool_call", toolCallId="1", title="Write greeting.txt", kind="edit", status="pending")
    write(session, path, before + "hello\n")
    update(session, sessionUpdate="tool_call_update", toolCallId="1", status="completed")
    run(session, "sh", "-c", "echo world >> greeting.txt")
    tell(session, f"Greeted {len(told) + 1} times.")


def is_refused(session, cwd, prompt, told):
    """Asks for what no run may do, in every way there is, and reports the answers."""
    leave = permission(session, {"toolCallId": "p", "kind": "execute", "title": "git push origin HEAD"})
    fine = permission(session, {"toolCallId": "q", "kind": "execute", "title": "ls"})
    report = [
        f"push {leave}",
        f"ls {fine}",
        f"commit {run(session, 'git', 'commit', '--allow-empty', '-m', 'x')}",
        f"env {write(session, f'{cwd}/.env', 'X=1')}",
        f"git {write(session, f'{cwd}/.git/config', 'x')}",
        f"out {write(session, os.environ['HOME'] + '/out.txt', 'x')}",
    ]
    try:
        with open(os.environ["HOME"] + "/unasked.txt", "w") as out:
            out.write("x")
        report.append("unasked written")
    except OSError as error:
        report.append(f"unasked {error.strerror}")
    tell(session, "\n".join(report))


def dies(session, cwd, prompt, told):
    tell(session, "I am about to fall over.")
    with open(f"{cwd}/half.txt", "w") as half:
        half.write("half\n")
    print("fatal: out of cheese", file=sys.stderr)
    sys.exit(3)


def hangs(session, cwd, prompt, told):
    """Hears of no cancel and no signal, and leaves a child in a session of its own."""
    for ignored in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    code = "import os,signal,time\nos.setsid()\n"
    code += "[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]\nprint(flush=True)\ntime.sleep(1000)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    child.stdout.readline()
    terminal, _ = ask("terminal/create", sessionId=session, command="sleep", args=["1000"])
    tell(session, "hanging\n")
    while True:
        time.sleep(1000)


def listens(session, cwd, prompt, told):
    """Ends its turn when it is told to."""
    tell(session, "listening\n")
    while True:
        message = hear()
        if message.get("method") == "session/cancel":
            with open(f"{HOME}/cancelled", "w") as mark:
                mark.write(message["params"]["sessionId"])
            return "cancelled"


def declines(session, cwd, prompt, told):
    return "refusal"


def is_cut_off(session, cwd, prompt, told):
    return "max_tokens"


PARTS = {
    "works": works,
    "forgets": works,
    "is-refused": is_refused,
    "dies": dies,
    "hangs": hangs,
    "listens": listens,
    "declines": declines,
    "is-cut-off": is_cut_off,
}


def kept(session):
    return f"{HOME}/{session}.json"


def main():
    if PART == "garbage":
        for _ in range(100):
            print("Usage: agent [--acp] [PROMPT]", flush=True)
        time.sleep(1000)
    told, cwd = [], None
    while True:
        message = hear()
        params = message.get("params") or {}
        match message.get("method"):
            case "initialize":
                version = 2 if PART == "newer" else params["protocolVersion"]
                can = {"loadSession": PART != "forgets"}
                answer(message, {"protocolVersion": version, "agentCapabilities": can})
            case "session/new":
                told, cwd = [], params["cwd"]
                answer(message, {"sessionId": f"session-{os.getpid()}-{time.time_ns()}"})
            case "session/load":
                with open(kept(params["sessionId"])) as conversation:
                    told, cwd = json.load(conversation), params["cwd"]
                for text in told:
                    tell(params["sessionId"], f"again: {text}")
                answer(message, None)
            case "session/prompt":
                session, prompt = params["sessionId"], params["prompt"][0]["text"]
                reason = PARTS[PART](session, cwd, prompt, told) or "end_turn"
                told.append(prompt)
                with open(kept(session), "w") as conversation:
                    json.dump(told, conversation)
                usage = {"totalTokens": 30, "inputTokens": 20, "outputTokens": 10}
                answer(message, {"stopReason": reason, "usage": usage})
            case "session/cancel" | None:
                pass
            case other:
                say({"id": message.get("id"), "error": {"code": -32601, "message": other}})


main()

// An agent made with the protocol's own library, which checks every message it gets against the protocol's schema.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const home = process.env.DANDORI_AGENT_HOME;
mkdirSync(home, { recursive: true });
const file = (id) => `${home}/${id}.json`;
const { client: asks, agent: asked } = acp.methods;
let key = null;
let model = "big";

const configOptions = () => [
  {
    id: "model",
    name: "Model",
    category: "model",
    type: "select",
    currentValue: model,
    options: ["big", "small"].map((value) => ({ value, name: value })),
  },
];

async function prompt({ sessionId }, client) {
  const { turns, cwd } = JSON.parse(readFileSync(file(sessionId)));
  const path = `${cwd}/made.txt`;
  const terminal = await client.request(asks.terminal.create, { sessionId, command: "ls", args: ["README.md"], cwd });
  const of = { sessionId, terminalId: terminal.terminalId };
  const { exitCode } = await client.request(asks.terminal.waitForExit, of);
  const { output } = await client.request(asks.terminal.output, of);
  await client.request(asks.terminal.kill, of);
  await client.request(asks.terminal.release, of);
  if (exitCode !== 0) throw new Error(`exit ${exitCode}`);
  const content = `model ${model}, key ${key}\nrun: ${output}`;
  const toolCall = { toolCallId: `w${turns}`, title: "Write made.txt", kind: "edit", locations: [{ path }] };
  const options = [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ];
  const leave = await client.request(asks.session.requestPermission, { sessionId, toolCall, options });
  if (leave.outcome.optionId !== "yes") throw new Error(JSON.stringify(leave));
  await client.request(asks.fs.writeTextFile, { sessionId, path, content });
  const read = await client.request(asks.fs.readTextFile, { sessionId, path, line: 1, limit: 2 });
  if (read.content !== content) throw new Error(JSON.stringify(read));
  writeFileSync(file(sessionId), JSON.stringify({ turns: turns + 1, cwd }));
  const text = `written, ${turns + 1} turns`;
  await client.notify(asks.session.update, {
    sessionId,
    update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
  });
  return { stopReason: "end_turn" };
}

function require_login() {
  if (!key) throw acp.RequestError.authRequired();
}

acp
  .agent({ name: "library-agent" })
  .onRequest(asked.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: { loadSession: true },
    authMethods: [{ id: "key", name: "Key" }],
  }))
  .onRequest(asked.authenticate, ({ params }) => {
    key = params.methodId;
    return {};
  })
  .onRequest(asked.session.new, ({ params }) => {
    require_login();
    const sessionId = crypto.randomUUID();
    writeFileSync(file(sessionId), JSON.stringify({ turns: 0, cwd: params.cwd }));
    return { sessionId, configOptions: configOptions() };
  })
  .onRequest(asked.session.load, ({ params }) => {
    require_login();
    readFileSync(file(params.sessionId));
    return { configOptions: configOptions() };
  })
  .onRequest(asked.session.setConfigOption, ({ params }) => {
    model = params.value;
    return { configOptions: configOptions() };
  })
  .onRequest(asked.session.prompt, (ctx) => prompt(ctx.params, ctx.client))
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

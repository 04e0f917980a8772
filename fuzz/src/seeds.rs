//! What is mutated: the recorded events, both corpora of shell lines, and documents and settings as people have them.

use camino::Utf8Path;
use dandori_corpus::Form;

use crate::trouble::Trouble;

pub(crate) struct Seeds {
    pub(crate) events: Vec<String>,
    pub(crate) hostile: Vec<Form>,
    pub(crate) harmless: Vec<String>,
    pub(crate) documents: Vec<String>,
    pub(crate) settings: Vec<String>,
    pub(crate) patches: Vec<String>,
}

impl Seeds {
    pub(crate) fn load() -> Result<Self, Trouble> {
        let folder = Utf8Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/guard/tests/data/events"));
        let mut files = Vec::new();
        for entry in folder.read_dir_utf8().map_err(Trouble::io(folder))? {
            files.push(entry?.path().to_owned());
        }
        // The order of a folder is not the same everywhere, and numbers must mean the same cases.
        files.sort();
        let read = |path: &camino::Utf8PathBuf| std::fs::read_to_string(path).map_err(Trouble::io(path));
        let events = files.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self {
            events,
            hostile: dandori_corpus::hostile(),
            harmless: dandori_corpus::harmless(),
            documents: documents(),
            settings: texts(SETTINGS),
            patches: texts(PATCHES),
        })
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn documents() -> Vec<String> {
    let mut all = texts(DOCUMENTS);
    for japanese in [false, true] {
        all.push(dandori_playbook::state_template(japanese));
        all.push(dandori_playbook::playbook_template("fuzz", "work", japanese));
    }
    all
}

pub(crate) const STATE: &str = "---\nplaybook:\n  active: plan/playbook-a.md  # now\n  branch: work\n  last_archived: null\ngoal:\n  milestone: M1\n  phase: p1\n  \
    done_criteria:\n    - it works\nverification:\n  self_complete: false\nconfig:\n  security: normal\n  toolstack: A\n  roles:\n    worker: codex\n---\n\n# State\n\nProse: stays.\n";

pub(crate) const PLAYBOOK: &str = "---\nname: a\nbranch: work\nreviewed: true\nexecutor: claude\nscope: [\"src/**\", \"docs/**\"]\n---\n\n# A\n\n## Goal\n\nWhy.\n\n\
    ## p1: First\n\n- status: in_progress\n- depends_on: []\n- executor: claude\n- done_criteria:\n  - it works\n\n### Subtasks\n\n- [x] p1.1: do it\n  - validation: automated\n  - technical: `cargo test` passes\n  \
    - consistency: same words\n  - completeness: TODO\n- [ ] p1.2: more\n\n## p_final: Whole\n\n- status: pending\n- depends_on: [p1]\n- done_criteria:\n  - all of it\n";

const DOCUMENTS: &[&str] = &[
    STATE,
    PLAYBOOK,
    "# state\r\n\r\n## focus\r\n\r\n```yaml\r\ncurrent: workspace\r\n```\r\n\r\n## active_playbooks\r\n\r\n```yaml\r\nproduct: null\r\nworkspace: plan/x.md # y\r\n```\r\n\r\n## goal\r\n\r\n```yaml\r\nmilestone: \"M: 1\"\r\nphase: 'p#1'\r\ndone_criteria: [a, \"b, c\"]\r\n```\r\n",
    "## meta\n\n```yaml\nreviewed: false\nbranch: feat/x\n```\n\n## Phase 1: 設計\n\n```yaml\n- id: p1\n  status: pending\n  depends_on: [p2]\n```\n\n## フェーズ 2: 実装\n\n* **status**: 進行中\n* done_criteria:\n  1. 動く\n\n- [X] やる\n  - 技術: ok\n",
    "---\nscope: [src/**]\nout_of_scope:\n  - mobile app\n---\n# Project\n\n## Out of scope\n- payment\n* SSO\n\n## スコープ外\n- 決済\n",
    "phases:\n  - id: p1\n    status: done\n  - id: p2\n    depends_on:\n      - p1\n~~~\ncode\n~~~\n\t- tab\n",
];

const SETTINGS: &[&str] = &[
    "{}",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"log.sh\" }] } // keep\n    ]\n  },\n  \"env\": { \"A\": \"1\" }\n}\n",
    "// mine\n{\r\n\t\"hooks\": {\r\n\t\t/* none */\r\n\t},\r\n\t\"permissions\": { \"allow\": [\"Bash(ls:*)\",], },\r\n}\r\n",
    "\u{feff}{\"hooks\":{\"BeforeTool\":[],\"Stop\":[{\"hooks\":[{\"command\":\"/x/dandori hook\"},{\"command\":\"a\"}]}]}}",
    "{ \"名前\": \"日本\\n\", \"a\\\"b\": [1, -2.5e3, true, null, { \"} // no ]\": [] }], \"hooks\": {\"SessionStart\": [ ] } }",
    "/* only words */\n\n",
    "",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"dandori hook claude; true\" },\n          { \"command\": \"'/my tools/dandori' hook codex\" }\n        ]\n      }\n    ]\n  }\n}",
];

const PATCHES: &[&str] = &[
    "*** Begin Patch\n*** Add File: new.txt\n+hi\n+*** End Patch\n*** End Patch\n",
    "*** Begin Patch\n*** Update File: src/lib.rs\n*** Move to: src/main.rs\n@@ fn a\n-old\n+new\n context\n@@\n-x\n+y\n*** End of File\n*** Delete File: b.txt\n*** End Patch",
    "<<'EOF'\n*** Begin Patch\n  *** Update File: 日本/語.md  \n@@\n *** Delete File: no.txt\n+*** Add File: no.txt\n*** Environment ID: x\n*** End Patch\nEOF\n",
    "apply_patch <<'P'\n*** Begin Patch\n*** Delete File: .env\n*** End Patch\nP\n",
    "*** Begin Patch\r\n*** Add File: a/../b\r\n+x\r\n*** Update File: ~/c\r\n@@\r\n-1\r\n+2\r\n*** End Patch\r\n",
];

//! What the user and the agents of the play say, in the user's language.

use dandori_text::Lang;

use crate::agent::Scene;
use crate::agent::Step::{Read, Refuse, Say, Shell, Wait, Write};

/// The instructions, in the order they are given.
pub(crate) struct Words {
    pub(crate) greet: &'static str,
    pub(crate) several: &'static str,
    pub(crate) friendlier: &'static str,
    pub(crate) python: &'static str,
    pub(crate) translate: &'static str,
    pub(crate) readme: &'static str,
    pub(crate) commit: &'static str,
    /// What the agent says when it waits to be let go.
    pub(crate) checking: &'static str,
    /// What dandori says of an agent that says nothing.
    pub(crate) thinking: &'static str,
}

const EN: Words = Words {
    greet: "Add a script that greets people by name",
    several: "Greet several people at once",
    friendlier: "Make the greeting friendlier",
    python: "Rewrite the script in Python",
    translate: "Translate the README into French",
    readme: "# Hello\n\nA greeting.\n",
    commit: "Start the project",
    checking: "Now I check that it works.",
    thinking: "thinking",
};

const JA: Words = Words {
    greet: "名前を呼んであいさつするスクリプトを追加して",
    several: "複数の人にまとめてあいさつできるようにして",
    friendlier: "あいさつをもっと親しみやすくして",
    python: "スクリプトを Python で書き直して",
    translate: "README をフランス語に翻訳して",
    readme: "# こんにちは\n\nあいさつです。\n",
    commit: "プロジェクトを開始",
    checking: "動作を確認します。",
    thinking: "考え中",
};

pub(crate) fn words(lang: Lang) -> &'static Words {
    match lang {
        Lang::En => &EN,
        Lang::Ja => &JA,
    }
}

/// One of two, by language.
fn in_lang(lang: Lang, en: &'static str, ja: &'static str) -> &'static str {
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}

pub(crate) fn claude(lang: Lang) -> Vec<Scene> {
    let say = |en, ja| Say(in_lang(lang, en, ja));
    let text = |en, ja| in_lang(lang, en, ja);
    let words = words(lang);
    vec![
        Scene {
            instruction: words.greet,
            steps: vec![
                say("I'll look at the project first.", "まずプロジェクトを確認します。"),
                Read("README.md"),
                Write(
                    "greet.sh",
                    text(
                        "#!/bin/sh\nname=${1:-world}\necho \"Hello, $name!\"\n",
                        "#!/bin/sh\nname=${1:-世界}\necho \"こんにちは、$name さん\"\n",
                    ),
                ),
                Say(words.checking),
                Wait,
                Shell("sh greet.sh Ada", text("Hello, Ada!", "こんにちは、Ada さん")),
                say(
                    "greet.sh greets whoever you name, and the world when you name nobody.",
                    "greet.sh は指定した名前に、指定がなければ世界にあいさつします。",
                ),
            ],
        },
        Scene {
            instruction: words.several,
            steps: vec![
                Read("greet.sh"),
                Write(
                    "greet.sh",
                    text(
                        "#!/bin/sh\nfor name in \"${@:-world}\"; do\n  echo \"Hello, $name!\"\ndone\n",
                        "#!/bin/sh\nfor name in \"${@:-世界}\"; do\n  echo \"こんにちは、$name さん\"\ndone\n",
                    ),
                ),
                Shell(
                    "sh greet.sh Ada Grace",
                    text("Hello, Ada!\nHello, Grace!", "こんにちは、Ada さん\nこんにちは、Grace さん"),
                ),
                say(
                    "It now greets everyone you name, one line each.",
                    "指定した全員に 1 行ずつあいさつするようにしました。",
                ),
            ],
        },
        Scene {
            instruction: words.friendlier,
            steps: vec![
                Read("greet.sh"),
                Write(
                    "greet.sh",
                    text(
                        "#!/bin/sh\necho \"Hello, ${1:-world}! Nice to see you.\"\n",
                        "#!/bin/sh\necho \"こんにちは、${1:-世界} さん。お会いできてうれしいです\"\n",
                    ),
                ),
                Wait,
                say("The greeting says that it is nice to see you.", "会えてうれしい気持ちを伝えるようにしました。"),
            ],
        },
        Scene {
            instruction: words.python,
            steps: vec![
                Write(
                    "greet.py",
                    text(
                        "import sys\n\nprint(f\"Hello, {sys.argv[1]}!\")\n",
                        "import sys\n\nprint(f\"こんにちは、{sys.argv[1]} さん\")\n",
                    ),
                ),
                say(
                    "The first version is there; I go on with the options.",
                    "最初の版ができました。続けてオプションを書きます。",
                ),
                Wait,
            ],
        },
        Scene {
            instruction: words.translate,
            steps: vec![Read("README.md"), Refuse("Invalid API key · Please run /login")],
        },
    ]
}

pub(crate) fn codex(lang: Lang) -> Vec<Scene> {
    let text = |en, ja| in_lang(lang, en, ja);
    vec![Scene {
        instruction: words(lang).friendlier,
        steps: vec![
            Shell("cat greet.sh", "#!/bin/sh"),
            Write(
                "greet.sh",
                text(
                    "#!/bin/sh\nname=${1:-world}\necho \"Hello, $name!\"\necho \"How are you today?\"\n",
                    "#!/bin/sh\nname=${1:-世界}\necho \"こんにちは、$name さん\"\necho \"お元気ですか?\"\n",
                ),
            ),
            Write(
                "README.md",
                text(
                    "# Hello\n\nA greeting that asks how you are.\n",
                    "# こんにちは\n\n元気かどうかをたずねるあいさつです。\n",
                ),
            ),
            Say(text(
                "It asks how you are, and the README says so.",
                "元気かどうかをたずねるようにし、README にも書きました。",
            )),
        ],
    }]
}

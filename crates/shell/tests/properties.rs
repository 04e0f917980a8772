//! Whatever comes in, something honest comes out.

use dandori_shell::{Options, Touch, git_subcommand, read, read_with};
use proptest::prelude::*;

fn corpus() -> Vec<String> {
    dandori_corpus::known().into_iter().chain(dandori_corpus::further()).map(|form| form.command).collect()
}

fn pushes(line: &str) -> bool {
    let reading = read(line);
    !reading.is_clear() || reading.commands.iter().any(|c| git_subcommand(c).as_deref() == Some("push"))
}

/// Constructs that run what they are put around.
const AROUND: &[&str] = &[
    "( @ )",
    "( ( @ ) )",
    "{ @; }",
    "! @",
    "if @; then :; fi",
    "if :; then @; fi",
    "while @; do break; done",
    "for i in 1; do @; done",
    "case a in a) @;; esac",
    "f() { @; }; f",
    "echo $( @ )",
    "echo \"$( @ )\"",
    "x=$( @ )",
    "cat <( @ )",
    "true && @",
    "false || @",
    "@ &",
    "@ | cat",
    "time @",
    "coproc { @; }",
    "cat <<E\n$( @ )\nE",
    "[[ -n $( @ ) ]]",
    "echo ${x:-$( @ )}",
    "{ @; } > /dev/null 2>&1",
    "(\n@\n)",
    "trap \"$( @ )\" EXIT",
    "echo $(( 1 + $( @ ) ))",
    "a=(1 $( @ ))",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_is_read_without_a_panic(line in "\\PC*") {
        let _ = read(&line);
    }

    #[test]
    fn arbitrary_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn shell_like_noise_is_read_without_a_panic(
        parts in prop::collection::vec(prop::sample::select(vec![
            "$(", ")", "`", "'", "\"", "\\", "\n", " ", ";", "|", "&", "{", "}", "((", "))", "<<E", "E\n", "<", ">", "$", "${",
            "x", "git", "push", "if", "then", "fi", "do", "done", "case", "esac", "in", "*", "?", "[", "]", "#", "=", "~", "é", "!", "..", ",", "1",
            "sed", "-i", "awk", "s/a/b/w", "python3 -c", "xargs", "find -exec", "eval", "bash -c", "99999999999999999999",
        ]), 0..40)
    ) {
        let line = parts.concat();
        let _ = read(&line);
        let _ = read(&parts.join(" "));
    }

    #[test]
    fn mutated_forms_are_read_without_a_panic(
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        put in prop::sample::select(vec!["", "'", "\"", "\\", "$(", ")", "`", "\n", ";", "{", "}", "é", "<<", "$"]),
        cut in 0usize..4,
    ) {
        let lines = corpus();
        let line = which.get(&lines);
        let chars: Vec<char> = line.chars().collect();
        let at = place.index(chars.len() + 1);
        let mutated: String = chars[..at].iter().collect::<String>() + put
            + &chars[(at + cut).min(chars.len())..].iter().collect::<String>();
        let _ = read(&mutated);
    }

    #[test]
    fn a_push_inside_any_constructs_is_seen_or_opaque(around in prop::collection::vec(prop::sample::select(AROUND.to_vec()), 0..4)) {
        let mut line = "git push".to_owned();
        for construct in around {
            line = construct.replace('@', &line);
        }
        prop_assert!(pushes(&line), "{line}");
    }

    #[test]
    fn a_quoted_mention_is_no_command(text in "[a-zA-Z $();|&<>`#*?]{0,40}") {
        let quoted = format!("echo 'git push {text}'");
        let reading = read(&quoted);
        prop_assert!(reading.is_clear() && reading.commands.len() == 1 && reading.writes.is_empty(), "{quoted}");
    }
}

#[test]
fn deep_and_long_lines_are_opaque_and_soon_answered() {
    for line in [
        "$(".repeat(20_000),
        "(".repeat(60_000),
        "`".repeat(60_001),
        "{ ".repeat(30_000),
        "if ".repeat(20_000),
        "bash -c '".repeat(5000),
        "eval ".repeat(10_000),
        "a;".repeat(30_000),
        "x ".repeat(100_000),
        format!("echo {}", "${x:-".repeat(10_000)),
        "! ".repeat(30_000) + "ls",
        "<(".repeat(20_000),
        "f(){ f; f; }; f".to_owned() + &"; f".repeat(5000),
        "a&&".repeat(20_000) + "b",
        "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}".to_owned(),
    ] {
        let reading = read(&line);
        assert!(reading.commands.len() < 5000);
    }
    assert!(!read(&"$(".repeat(20_000)).is_clear());
    assert!(!read(&"x ".repeat(100_000)).is_clear());
    assert!(!read(&("a;".repeat(30_000) + "git push")).is_clear());
}

#[test]
fn paths_are_seen_from_the_folder_the_shell_stands_in() {
    let options = Options { home: Some("/home/u".into()), cwd: Some("/w/repo".into()), ..Options::default() };
    let paths =
        |line: &str| -> Vec<String> { read_with(line, &options).writes.into_iter().map(|w| w.path.text).collect() };
    assert_eq!(paths("echo x > a"), ["/w/repo/a"]);
    assert_eq!(paths("cd src && echo x > ../b"), ["/w/repo/b"]);
    assert_eq!(paths("echo x > ~/c; echo y > $HOME/d"), ["/home/u/c", "/home/u/d"]);
    assert_eq!(paths("(cd /tmp; touch e); touch f"), ["/tmp/e", "/w/repo/f"]);
    let reading = read_with("rm -rf src", &options);
    assert_eq!(reading.writes[0].touches("/w/repo/src/lib.rs"), Touch::Yes);
    assert_eq!(reading.writes[0].touches("/w/repo/README.md"), Touch::No);
}

#[test]
fn a_known_alias_is_followed() {
    let options = Options { aliases: vec![("gp".into(), "git push".into())], ..Options::default() };
    let reading = read_with("gp origin main", &options);
    assert!(reading.commands.iter().any(|c| git_subcommand(c).as_deref() == Some("push")));
}

#[test]
fn a_read_through_a_link_of_the_line_is_one_of_what_it_leads_to() {
    for line in [
        "ln -s .env x && cat x",
        "ln -s a x; ln -sf .env x; head x",
        "ln -s ../.env d/x && cat d/x",
        "ln -s .env d/ && ln -s d e && cat e/.env",
        "ln .env x && grep . < x",
        "cp -l .env x && cat x",
    ] {
        assert!(read(line).reads.iter().any(|read| read.path.text == ".env"), "{line}: {:?}", read(line).reads);
    }
    let options = Options { cwd: Some("/w/repo".into()), ..Options::default() };
    let reading = read_with("ln -s ../shared/.env . && cat src/lib.rs", &options);
    assert_eq!(reading.reads.iter().map(|r| r.path.text.as_str()).collect::<Vec<_>>(), ["/w/repo/src/lib.rs"]);
}

#[test]
fn what_is_left_of_a_long_list_is_said_to_be_unseen() {
    let items = (0..90).map(|n| format!("f{n}\\n")).collect::<Vec<_>>().concat();
    assert!(!read(&format!("printf '{items}' | xargs -I{{}} rm {{}}")).is_clear());
    assert!(!read(&format!("parallel rm ::: {}", items.replace("\\n", " "))).is_clear());
    assert!(!read(&format!("find {} \\( -name a -o -name b \\) -delete", "d ".repeat(200))).is_clear());
    let few = (0..40).map(|n| format!("f{n}\\n")).collect::<Vec<_>>().concat();
    let reading = read(&format!("printf '{few}' | xargs -I{{}} rm {{}}"));
    assert!(reading.is_clear());
    assert_eq!(reading.writes.len(), 40);
}

#[test]
fn code_that_only_reads_writes_nothing() {
    assert!(read("python3 -c \"print(open('a').read())\"").writes.is_empty());
    assert!(read("node -e \"console.log(require('fs').readFileSync('a','utf8'))\"").writes.is_empty());
    assert_eq!(read("python3 -c \"open('a','a')\"").writes[0].touches("a"), Touch::Yes);
}

/// Each would take hours, or all the memory there is, if it were followed to its end.
#[test]
fn what_multiplies_is_cut_off_and_opaque() {
    let wide = "x".repeat(20_000);
    for line in [
        "for i in {1..30}; do ".repeat(8) + "echo a" + &"; done".repeat(8),
        "for i in {1..30}; do ".repeat(8) + "a=1" + &"; done".repeat(8),
        "a=xx; ".to_owned() + &"a=$a$a; ".repeat(60) + "echo $a",
        "set -- a b; ".to_owned() + &"set -- $@ $@; ".repeat(60) + "$@",
        "a=x; ".to_owned() + &"a+=$a; ".repeat(60) + "echo $a",
        "${x:=".repeat(60) + "$y" + &"}".repeat(60),
        format!("a={wide}; echo {}", "$a".repeat(10_000)),
        format!("a={wide}; {}", "b=$a; c=$a; ".repeat(3_000)),
        format!("a={wide}; {}", "echo $a;".repeat(3_000)),
        format!("a={wide}; ${{a//x/{}}}", "y".repeat(20_000)),
        "env ".repeat(15_000) + "ls",
        "sudo ".repeat(12_000) + "ls",
        "(".repeat(40) + "for ((i=0; i<3; i++)); do echo $i; done" + &")".repeat(40),
        "( ".repeat(60) + "ls" + &" )".repeat(60),
        "((ls; ".repeat(40) + "ls" + &"))".repeat(40),
        "echo \"$(".repeat(30) + "ls" + &")\"".repeat(30),
        "case a in a) ".repeat(24) + "ls;;; esac" + &";; esac".repeat(23),
        "awk >(case a in a) xargs ".repeat(57),
        "coproc case a in a) ".repeat(40) + "ls" + &";; esac".repeat(40),
        "a[$(ls)".repeat(64),
        "a[".to_owned() + &"${b[".repeat(8) + "1" + &"]}".repeat(8) + "]=x",
        "eval ".repeat(12_000) + "ls",
    ] {
        let begun = std::time::Instant::now();
        let reading = read(&line);
        let start: String = line.chars().take(60).collect();
        let kept: usize = reading.commands.iter().flat_map(|c| &c.argv).map(|w| w.text.len()).sum();
        assert!(begun.elapsed().as_secs() < 20, "{start}: {:?}", begun.elapsed());
        assert!(kept < 16 << 20, "{start}: {kept} bytes");
        assert!(!reading.is_clear(), "{start}");
    }
}

#[test]
fn what_holds_itself_or_multiplies_ends_soon() {
    let names = "{a}".repeat(5_000);
    let lines = [
        "i='$((i))$((i))'; echo $((i))".to_owned(),
        "i='a[$(echo $((i)))]'; echo $((i)); [[ -v i[i] ]]".to_owned(),
        format!("PS4='{}'; set -x", "$(".repeat(30)),
        format!("true{}", " && x=1 && y=$x".repeat(3_000)),
        "set -- a a a $@ $@; ".repeat(900),
        format!("{}cat <<E\n`git push`\n{}\nE", "set -- a a a $@ $@; ".repeat(8), "$@ ".repeat(4_000)),
        "(({a,b}<<E\nsource ".repeat(150),
        "coproc while \\\n(( ]]$IFS<<E\ntrap ".repeat(400),
        "set -- a a a $@ $@; watchexec -e rs -- cargo test".repeat(300),
        format!("{}tmux new-session -d 'git push'", "set -- a a a $@ $@; ".repeat(12)).repeat(20),
        format!("{}{}", "set -- a a a $@ $@; ".repeat(12), "(:); ".repeat(2_000)),
        format!(
            "{}{}",
            (0..1_500).map(|i| format!("alias a{i}=b;")).collect::<Vec<_>>().concat(),
            "(:); ".repeat(2_000)
        ),
        format!("{}{}", "pushd a; ".repeat(2_000), "(:); ".repeat(2_000)),
        (0..2_000).map(|n| format!("v{n}=1")).collect::<Vec<_>>().join(" && "),
        "cd a; ".repeat(8_000),
        format!("python3 -c \"a='x'; t=f'{names}'; {}\"", "open(t,'w');".repeat(3_000)),
        format!("python3 -c \"import os; {}\"", "p=os.path.join(p,p); ".repeat(2_000)),
        format!("python3 -c \"x={}1{}\"", "f(".repeat(3_000), ")".repeat(3_000)),
        format!("find . {} -delete", "\\( -name a -o ".repeat(3_000)),
        format!("find {} \\( -name b{} \\) -delete", "a ".repeat(15_000), " -o -name b".repeat(2_500)),
        format!("find \\( -name b{} \\) {}", " -o -name b".repeat(2_500), "-delete ".repeat(4_000)),
        format!("find {} {} | xargs rm", "a ".repeat(15_000), "-print ".repeat(4_500)),
        format!("find {} -exec {} \\;", "a ".repeat(250), "x ".repeat(30_000)),
        format!("cd {}; rm {}", "d/".repeat(2_000), (0..9_000).map(|n| format!("f{n} ")).collect::<Vec<_>>().concat()),
        format!("rm {}", (0..10_000).map(|n| format!("f{n} ")).collect::<Vec<_>>().concat()),
        format!("cat {}", (0..10_000).map(|n| format!("f{n} ")).collect::<Vec<_>>().concat()),
        (0..1_500).map(|n| format!("ln -s a{n} a{}; cat a{n}/x; ", n + 1)).collect::<Vec<_>>().concat(),
        "ln -s a/a a; cat a; ".repeat(2_000),
        format!("parallel echo {} ::: {}", "x ".repeat(15_000), "y ".repeat(15_000)),
        format!("docker run -v .:/w x {}", "docker run -v .:/w x ".repeat(500)),
        "ls | ".repeat(3_000) + "xargs rm",
        format!("declare -n a=b b=a; {}", "a=$b; b=$a; ".repeat(2_000)),
    ];
    for line in lines {
        let start = std::time::Instant::now();
        let reading = read(&line);
        let took = start.elapsed();
        let shown: String = line.chars().take(60).collect();
        assert!(took.as_secs() < 20, "{shown}: {took:?}");
        assert!(reading.commands.len() <= 20_000, "{shown}");
    }
}

use crate::Level;
use crate::judge::Outcome;
use crate::stage::Stage;

fn stage() -> Stage {
    Stage::only("secrets", Level::Block).file(".env", "KEY=1").file("src/a.rs", "")
}

fn assert_all(lines: &[&str], outcome: Outcome) {
    for line in lines {
        let judged = stage().bash(line);
        assert_eq!(judged.outcome(), outcome, "{line}: {}", judged.said());
    }
}

#[test]
fn a_name_that_code_puts_together_is_read_whole() {
    assert_all(
        &[
            "python3 -c \"print(open('.e'+'nv').read())\"",
            "python3 -c \"print(open('.e' 'nv').read())\"",
            "python3 -c \"print(open(''.join(['.e','nv'])).read())\"",
            "python3 -c \"print(open('.{}'.format('env')).read())\"",
            "python3 -c \"import os; print(open(os.path.join('.', '.env')).read())\"",
            "python3 -c \"import os; print(open(os.path.join('.', '.e' + 'nv')).read())\"",
            "python3 -c \"a='.e'; b='nv'; print(open(a+b).read())\"",
            "python3 -c \"a='nv'; print(open(f'.e{a}').read())\"",
            "python3 - <<'E'\nimport sys\nsys.stdout.write(open('.e' +\n  'nv').read())\nE",
            "node -e \"console.log(require('fs').readFileSync('.e'+'nv','utf8'))\"",
            "node -e \"console.log(require('fs').readFileSync(['.e','nv'].join(''),'utf8'))\"",
            "deno eval \"console.log(Deno.readTextFileSync('.e'+'nv'))\"",
            "ruby -e \"puts File.read('.e'+'nv')\"",
            "perl -e \"open F, '.e' . 'nv'; print <F>\"",
            "php -r \"echo file_get_contents('.e' . 'nv');\"",
            "cd src && python3 -c \"print(open('../.e'+'nv').read())\"",
        ],
        Outcome::Block,
    );
    assert_all(
        &[
            "python3 -c \"print(open('src/'+'a.rs').read())\"",
            "python3 -c \"print('a' + 'b', '.'.join(['x', 'y']), 'e' 'nv')\"",
            "python3 -c \"import os; print(open(os.path.join('src', 'a.rs')).read())\"",
            "python3 -c \"ext='rs'; print(open(f'src/a.{ext}').read())\"",
            "node -e \"console.log('dist/' + 'index.js', ['a','b'].join('.'))\"",
            "node -e \"const e = 'nv'; console.log(process.argv[1] + '.e')\"",
            "ruby -e \"puts %w[a b].join('-')\"",
            "perl -e \"print 'a' . 'b'\"",
        ],
        Outcome::Pass,
    );
}

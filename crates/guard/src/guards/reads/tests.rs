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

#[test]
fn variables_of_a_file_are_not_printed_by_what_they_are_handed_to() {
    assert_all(
        &[
            "dotenv -f .env run env",
            "dotenv -f .env run -- printenv",
            "dotenv -e .env -- printenv KEY",
            "dotenv printenv",
            "dotenv -f .env list",
            "dotenv -e .env -p KEY",
            "dotenvx run -- printenv",
            "dotenvx run -f .env -- env",
            "dotenvx get KEY",
            "npx dotenvx run --env-file=.env -- sh -c 'env | sort'",
            "npx @dotenvx/dotenvx run -- env",
            "docker run --env-file .env alpine env",
            "docker run --rm -it --env-file=.env --name x alpine sh -c 'printenv KEY'",
            "sudo podman run --env-file .env --entrypoint env alpine",
            "docker exec --env-file .env web sh -c 'echo $KEY'",
            "env-cmd -f .env printenv X",
            "env-cmd node -p process.env",
            "npx dotenv -e .env -- node -p process.env",
            "npx dotenv-cli -e .env -- node -e 'console.log(process.env)'",
            "dotenv run python3 -c 'import os; print(os.environ)'",
            "dotenv run bash -c 'export -p'",
            "dotenv run cat /proc/self/environ",
            "dotenv run jq -n env",
            "node --env-file=.env -p process.env.KEY",
            "node --env-file .env -e 'console.log(process.env)'",
            "uv run --env-file .env env",
            "foreman run env",
            "pipenv run printenv",
            "nf run -e .env env",
        ],
        Outcome::Block,
    );
    assert_all(
        &[
            "dotenv -f .env run npm test",
            "dotenv run -- env NODE_ENV=test npm test",
            "dotenv -e .env -- bash -c 'export PORT=3000; set -e; npm start'",
            "dotenv -e .env.example -- env",
            "docker compose --env-file .env up",
            "docker run --env-file .env --name env alpine npm test",
            "docker run --rm -e A=1 alpine env",
            "docker run --env-file .env.example alpine env",
            "dotenvx run -- node server.js",
            "dotenvx run -- bash -c 'echo starting && npm start'",
            "env-cmd -f .env node -e 'require(\"./db\").connect(process.env.URL)'",
            "node --env-file=.env server.js",
            "node -p process.env.HOME",
            "uv run --env-file .env pytest",
            "uv run env",
            "foreman start",
            "printenv PATH && env | grep ^LANG",
            "npx dotenv -e .env -- prisma migrate dev",
        ],
        Outcome::Pass,
    );
}

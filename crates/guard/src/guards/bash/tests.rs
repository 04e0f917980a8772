use serde_json::json;

use super::Class;
use crate::judge::Outcome;
use crate::stage::Stage;
use crate::world::Head;
use crate::{Client, Level};
use dandori_text::Lang;

fn stage() -> Stage {
    Stage::only("bash", Level::Block)
        .file("src/a.rs", "")
        .file("web/x.js", "")
        .link("out", "/home/user/other")
        .worktree("/trees/tree", Some("/repo"), Head::Branch("x".to_owned()))
}

fn all(lines: &[&str], want: Outcome) {
    for line in lines {
        let judged = stage().bash(line);
        assert_eq!(judged.outcome(), want, "{line}: {}", judged.said());
    }
}

#[test]
fn what_cannot_be_taken_back_is_refused() {
    all(
        &[
            "rm -rf \"$(git rev-parse --git-dir)\"",
            "rm -rf $(realpath .)",
            "rm -rf \"$(readlink -f .)/.git\"",
            "rm -rf \"$(dirname \"$PWD\")\"",
            "rm -rf /",
            "rm -rf /*",
            "sudo rm -r -f --no-preserve-root /",
            "rm -rf ~",
            "rm -rf ~/",
            "rm -rf $HOME",
            "rm -rf \"$HOME\"/*",
            "rm -rf ..",
            "rm -rf .",
            "rm -rf ./*",
            "rm -rf *",
            "rm -rf /repo",
            "cd src && rm -rf ../../repo",
            "cd /repo/src && rm -rf ..",
            "rm -rf .git",
            "rm --recursive --force /etc",
            "env X=1 bash -c 'rm -rf /usr'",
            "find / -delete",
            "find . -delete",
            "find / -name '*' -delete",
            "rm -rf \"$(git rev-parse --show-toplevel)\"",
            "python3 -c \"import shutil; shutil.rmtree('/home/user')\"",
            "python3 - <<'E'\nimport shutil, os\nshutil.rmtree(os.getcwd())\nE",
            "python3 -c \"import shutil,os; shutil.rmtree(os.path.expanduser('~'))\"",
            "python3 -c \"import shutil; from pathlib import Path; shutil.rmtree(Path.cwd())\"",
            "python3 -c \"import shutil; from pathlib import Path; shutil.rmtree(Path.cwd() / '.git')\"",
            "python3 -c \"import os; os.rename('.git', 'x')\"",
            "node -e \"require('fs').rmSync(process.cwd(),{recursive:true})\"",
            "node -e \"require('fs').rmSync(require('os').homedir(),{recursive:true})\"",
            "ruby -e 'require \"fileutils\"; FileUtils.rm_rf(Dir.pwd)'",
            "perl -MFile::Path=remove_tree -e 'remove_tree(\".\")'",
            "perl -MCwd -MFile::Path -e 'rmtree(getcwd())'",
            "deno eval 'Deno.removeSync(\".\",{recursive:true})'",
            "bun -e 'require(\"fs\").rmSync(\".\",{recursive:true})'",
            "lua -e 'os.execute(\"rm -rf .\")'",
            "tclsh <<< 'exec rm -rf .'",
            "tclsh <<< 'file delete -force .git'",
            "expect -c 'spawn rm -rf .; interact'",
            "julia -e 'run(`rm -rf .`)'",
            "elixir -e 'System.cmd(\"rm\", [\"-rf\",\".\"])'",
            "groovy -e '\"rm -rf .\".execute()'",
            "Rscript -e 'system2(\"rm\", c(\"-rf\", \".\"))'",
            "perl -e 'exec qw(git push --force)'",
            "python3 -c \"from subprocess import *; check_output('git push --force'.split())\"",
            "python3 -c \"import subprocess, shlex; subprocess.run(shlex.split('git push --force'))\"",
            "python3 -c \"import subprocess; subprocess.run(['git', 'push'] + ['--force'])\"",
            "cd / && chmod -R 755 .",
            "find ~ -exec rm -rf {} +",
            "find . -not -name x -exec rm -rf {} \\;",
            "find . ! -name keep -delete",
            "find . -type f -exec sh -c 'rm -f \"$1\"' _ {} \\;",
            "python3 -c \"import os; os.system('rm -rf %s' % '.')\"",
            "python3 -c \"import os; os.system('rm -rf {}'.format(os.getcwd()))\"",
            "make CC='sh -c \"git push -f\"'",
            "find . -type f ! -path './.git/*' -delete",
            "find . -name x -o -delete",
            "find . -delete -name '*.o'",
            "find ~ -type f -exec shred {} \\;",
            "rm -rf \"$CLAUDE_PROJECT_DIR\"",
            "rm -rf \"${CLAUDE_PROJECT_DIR}/.git\"",
            "rm -rf \"$(git rev-parse --show-toplevel)/.git\"",
            "R=$(git rev-parse --show-toplevel); rm -rf \"$R\"",
            "mv .git /tmp/g",
            "mv /repo /tmp/x",
            "cd src && mv ../.git /tmp/g",
            "trash-put .git",
            "gio trash .",
            "wipe -rf .",
            "npx shx rm -rf .",
            "npx del-cli '**' --force",
            "npx rimraf .",
            "cd src && cd .. && rm -rf *",
            "cd /tmp && cd - && rm -rf .",
            "pushd src; popd; rm -rf .",
            "docker run --rm -v \"$PWD:/w\" -w /w alpine rm -rf .",
            "docker run --rm -v $PWD:/w alpine sh -c 'rm -rf /w/*'",
            "docker run --rm -v \"$PWD\":/w -w /w alpine sh -c 'cd /w && rm -rf .git'",
            "docker run --rm -v /:/h alpine rm -rf /h/repo",
            "podman run -v /:/h alpine chroot /h rm -rf /",
            "docker run --rm --mount type=bind,src=$PWD,dst=/w alpine rm -rf /w",
            "docker run --privileged --pid=host alpine nsenter -t 1 -m rm -rf /",
            "docker compose run -v .:/w app rm -rf /w",
            "ssh localhost 'rm -rf /repo'",
            "ssh me@127.0.0.1 rm -rf ~",
            "tar -I 'sh -c \"git push -f\"' -cf /dev/null README.md",
            "nsenter -t 1 -m rm -rf /",
            "declare -n r=y; y='rm -rf .'; $r",
            "find . | rm -rf ~",
            "git push --force",
            "git push -f origin main",
            "git push -f -on origin main",
            "git push origin +main",
            "git push --forc",
            "git push -uf origin x",
            "git push --mirror",
            "mkfs.ext4 /dev/sda1",
            "dd if=/dev/zero of=/dev/sda bs=1M",
            "sudo wipefs -a /dev/sdb",
            "shred /dev/sda",
            "cat x > /dev/sda",
            "cp image.iso /dev/sdb",
            "chmod -R 777 .",
            "chmod -R 777 /",
            "sudo chown -R me /usr",
            "chown -R me ~",
            "shutdown -h now",
            "sudo reboot",
            "kill -9 -1",
            ":(){ :|:& };:",
        ],
        Outcome::Block,
    );
}

#[test]
fn what_a_person_may_mean_is_asked() {
    all(
        &[
            "rm -rf ~/Documents/x",
            "rm -rf /home/user/other",
            "rm -rf out",
            "rm -rf ~other",
            "find / -name '*.log' -delete",
            "find ~ -name x -exec rm {} +",
            "rm -rf \"$X/\"*",
            "rm -rf /$X",
            "rm -rf \"/usr/${X}\"",
            "rm -rf ~/$X",
            "rm -rf \"$HOME/$X\"",
            "rm -rf ../$X",
            "ls / | xargs -I{} rm -rf /{}",
            "find . | xargs rm -rf",
            "find . -type f -print0 | xargs -0 rm -f",
            "find . | grep -v keep | xargs rm -rf",
            "find . -type f | parallel rm -f {}",
            "find . -type f | xargs -n1 sh -c 'rm -f \"$0\"'",
            "ls -A | awk '{print $1}' | xargs rm -rf",
            "mapfile -t all < <(ls -A); rm -rf \"${all[@]}\"",
            "ls -A | xargs rm -rf",
            "ls | xargs -I{} rm -rf {}",
            "printf '%s\\n' * .* | xargs rm -rf",
            "fd . -x rm -rf",
            "for f in $(ls -A); do rm -rf $f; done",
            "while read f; do rm -rf \"$f\"; done < <(ls -A)",
            "ls -A | while read -r f; do rm -rf \"./$f\"; done",
            "git ls-files -z | xargs -0 rm -f",
            "find ~ -type f | xargs -n1 shred -u",
            "cd build; rm -rf *",
            "cd build; rm -rf ./*",
            "cd nonexist || true; rm -rf *",
            "(cd build; rm -rf .)",
            "docker exec db psql -c 'drop database app'",
            "docker compose exec -T db psql -U p -c 'DROP DATABASE app'",
            "docker-compose -f x.yml exec db dropdb app",
            "kubectl exec -n x pod -- psql -c 'drop table users'",
            "kubectl exec pod -- rm -rf /data",
            "ssh db 'psql -c \"drop database app\"'",
            "echo FLUSHALL | redis-cli",
            "redis-cli <<< flushall",
            "python manage.py flush --noinput",
            "./manage.py flush",
            "npx prisma db push --force-reset",
            "sqlite3 :memory: \"attach 'x.db' as x; drop table x.t\"",
            "git push --force-with-lease",
            "git push $OPTS",
            "git push $F origin feat/x",
            "git push ${FORCE:+--force}",
            "git push \"${ARGS[@]}\"",
            "git push origin HEAD:\"$TARGET\"",
            "git push origin --delete old",
            "git push origin :old",
            "git reset --hard HEAD~1",
            "git clean -fdx",
            "git checkout -- .",
            "git checkout .",
            "git checkout -f main",
            "git restore .",
            "git stash clear",
            "git stash drop",
            "git branch -D topic",
            "git -C . reset --hard",
            "git filter-branch --all",
            "git reflog expire --expire=now --all",
            "git gc --prune=now",
            "git update-ref -d refs/heads/x",
            "sudo systemctl stop nginx",
            "psql -c 'DROP TABLE users'",
            "psql mydb -c \"drop   database x\"",
            "psql <<SQL\nDROP TABLE users;\nSQL",
            "echo 'TRUNCATE users' | psql",
            "mysql -e 'delete from users' db",
            "sqlite3 x.db 'drop table t'",
            "dropdb prod",
            "redis-cli FLUSHALL",
            "mongosh --eval 'db.dropDatabase()'",
            "terraform destroy -auto-approve",
            "terraform apply -destroy",
            "kubectl delete ns prod",
            "kubectl delete pods --all",
            "aws s3 rb s3://x --force",
            "aws s3 rm s3://x --recursive",
            "aws ec2 terminate-instances --instance-ids i",
            "gcloud compute instances delete x",
            "docker system prune -af",
            "docker volume rm data",
            "docker compose down -v",
            "npm publish",
            "cargo publish -p x",
            "twine upload dist/*",
            "gem push x.gem",
            "gh repo delete x",
        ],
        Outcome::Ask,
    );
}

#[test]
fn the_plumbing_of_git_that_overwrites_work_is_asked_about() {
    all(
        &[
            "git read-tree -u --reset HEAD~3",
            "git read-tree --reset -u HEAD",
            "git checkout-index -f -a",
            "git checkout-index -af",
        ],
        Outcome::Ask,
    );
    all(
        &[
            "git read-tree --prefix=x/ HEAD",
            "git read-tree -m -u HEAD",
            "git checkout-index -a",
            "git checkout-index -af --prefix=/tmp/x/",
        ],
        Outcome::Pass,
    );
}

#[test]
fn the_api_of_a_forge_is_judged_as_its_commands_are() {
    all(
        &[
            "gh api -X DELETE repos/a/b",
            "gh api -XDELETE /repos/a/b",
            "gh api --method=DELETE 'repos/{owner}/{repo}'",
            "gh api repos/a/b --method delete",
            "gh api repos/a/b/branches/main/protection -X DELETE",
            "gh api repos/a/b/git/refs/heads/x -X DELETE",
            "gh api -X PATCH repos/a/b/git/refs/heads/main -f sha=1 -F force=true",
            "gh api -X PATCH repos/a/b/git/refs/heads/main -f sha=1",
            "gh api graphql -f query='mutation { createCommitOnBranch(input: {}) { clientMutationId } }'",
            "gh api -X PUT repos/a/b/contents/x -f message=m -f content=eA== -f branch=main",
            "gh api -X PUT repos/a/b/contents/x -f message=m -f content=eA==",
            "gh api -X PATCH repos/a/b -F archived=true",
            "gh api -X PATCH repos/a/b -f visibility=public",
            "gh api graphql -f query='mutation { deleteRef(input: {refId: \"x\"}) { clientMutationId } }'",
            "curl -X DELETE -H 'Authorization: x' https://api.github.com/repos/a/b",
            "curl -XDELETE https://api.github.com/repos/a/b/git/refs/heads/x",
            "curl --request PATCH -d '{\"sha\": \"1\", \"force\": true}' https://api.github.com/repos/a/b/git/refs/heads/main",
            "wget --method=DELETE https://api.github.com/repos/a/b",
            "http DELETE https://api.github.com/repos/a/b",
            "curl -X DELETE https://gitlab.example/api/v4/projects/1",
            "glab api -X DELETE projects/1",
        ],
        Outcome::Ask,
    );
    all(
        &[
            "gh api repos/a/b",
            "gh api repos/a/b/git/refs/heads/main",
            "gh api -X DELETE repos/a/b/issues/1/labels/bug",
            "gh api -X DELETE repos/a/b/issues/comments/1/reactions/2",
            "gh api repos/a/b/issues -f title=x",
            "gh api -X PATCH repos/a/b/issues/1 -f state=closed",
            "gh api -X PATCH repos/a/b -f description=x",
            "gh api -X PUT repos/a/b/contents/x -f message=m -f content=eA== -f branch=feat/x",
            "gh api -X PATCH repos/a/b/git/refs/heads/x -f sha=1",
            "gh api graphql -f query='mutation { resolveReviewThread(input: {threadId: \"x\"}) { thread { id } } }'",
            "gh api graphql -f query='query { viewer { login } }'",
            "curl -X DELETE http://localhost:3000/users/1",
            "curl https://api.github.com/repos/a/b",
        ],
        Outcome::Pass,
    );
}

#[test]
fn ordinary_clearing_up_and_rehearsals_pass() {
    all(
        &[
            "rm -rf node_modules",
            "rm -rf target/ dist",
            "rm -rf /tmp/x",
            "rm -rf /tmp/*",
            "rm -rf src/*",
            "rm -rf \"$tmp\"",
            "rm -rf \"$tmp/x\"",
            "rm -rf /trees/tree/target",
            "rm -f a.txt ~/x.txt",
            "rm *",
            "find . -name '*.pyc' -delete",
            "find target -delete",
            "find . -path ./.git -prune -o -name '*.orig' -delete",
            "find /tmp -maxdepth 1 -name 'test-*' -exec rm -rf {} +",
            "find . -name '*.tmp' | xargs rm",
            "find . -type d -name __pycache__ | xargs rm -rf",
            "find src -type f | xargs wc -l",
            "find . -name '*.o' -exec sh -c 'rm -f \"$1\"' _ {} \\;",
            "ls -t | tail -n +6 | xargs rm -rf",
            "ls -1 | head -3 | xargs rm -rf",
            "find . -type f | grep '\\.bak$' | xargs rm",
            "ls *.log | xargs rm -f",
            "ls | xargs rm",
            "git ls-files '*.orig' | xargs rm -f",
            "fd -e pyc -x rm",
            "cd build && rm -rf *",
            "cd build || exit 1; rm -rf *",
            "cd build || { echo none; exit 1; }; rm -rf *",
            "set -e; cd build; rm -rf *",
            "cd src; rm -rf *",
            "mkdir build; cd build; rm -rf *",
            "if cd build; then rm -rf *; fi",
            "mv src/a.rs src/b.rs",
            "mv * web/",
            "rm -rf \"$CLAUDE_PROJECT_DIR/target\"",
            "docker run --rm alpine rm -rf /",
            "docker run --rm -v data:/data alpine rm -rf /data",
            "docker run --rm -v \"$PWD\":/w -w /w node:20 sh -c 'rm -rf node_modules && npm ci'",
            "docker run --rm -v \"$PWD\":/w debian sh -c 'apt-get update && rm -rf /var/lib/apt/lists/*'",
            "docker run -it -v \"$PWD\":/w -w /w ubuntu bash",
            "docker exec app rm -rf /tmp/cache",
            "docker exec db psql -c 'select 1'",
            "kubectl exec pod -- rm -rf /tmp/x",
            "kubectl exec pod -- ls /data",
            "ssh host 'rm -rf /srv/x'",
            "ssh localhost uptime",
            "echo PING | redis-cli",
            "python manage.py migrate",
            "npx prisma db push",
            "sqlite3 :memory: 'create table t(a); drop table t'",
            "cd web && rm -rf dist",
            "git clean -n",
            "git clean -nfd",
            "git push --dry-run --force",
            "git push -u origin topic",
            "git push -u origin \"$BRANCH\"",
            "git push \"$REMOTE\" \"$BRANCH\"",
            "git push origin \"$(git branch --show-current)\"",
            "B=$(git rev-parse --abbrev-ref HEAD); git push -u origin \"$B\"",
            "git checkout -- src/a.rs",
            "git checkout -b x",
            "git restore --staged .",
            "git restore src/a.rs",
            "git stash",
            "git stash pop",
            "git branch -d merged",
            "git reset",
            "git gc",
            "docker rm x",
            "docker compose down",
            "docker image prune",
            "chmod -R u+w src",
            "chmod -R 755 .",
            "chown -R $USER:$USER .",
            "find . -name '*.orig' -exec rm {} +",
            "python3 -c \"import shutil; shutil.rmtree('build')\"",
            "python3 -c \"import os, shutil; shutil.rmtree(os.path.join(os.getcwd(), 'build'))\"",
            "python3 -c \"from pathlib import Path; (Path.cwd() / 'x.txt').unlink()\"",
            "python3 -c \"import os; os.makedirs('/tmp', exist_ok=True)\"",
            "python3 -c \"import os; os.makedirs(os.getcwd(), exist_ok=True)\"",
            "node -e \"const p=require('path');require('fs').rmSync(p.join(__dirname,'dist'),{recursive:true})\"",
            "perl -e 'unlink glob \"*.tmp\"'",
            "lua -e 'print(#arg)'",
            "groovy -e 'println 1'",
            "julia -e 'println(1)'",
            "chmod 777 x",
            "chmod -R 777 /tmp/x",
            "chown -R me src",
            "kill -9 123",
            "systemctl status nginx",
            "psql -c 'delete from t where id = 1'",
            "psql -c 'select 1'",
            "psql < dump.sql",
            "echo 'DROP TABLE x'",
            "git commit -m 'DROP TABLE users'",
            "cargo publish --dry-run",
            "npm run publish-docs",
            "kubectl delete pod x",
            "kubectl delete ns x --dry-run=client",
            "aws s3 rm s3://x/y",
            "terraform plan -destroy",
            "dd if=a of=b",
            "ls > /dev/null 2>&1",
            "echo 'rm -rf /'",
            "grep -rn 'git push --force' .",
            "f() { ls | wc -l & }; f",
        ],
        Outcome::Pass,
    );
}

#[test]
fn a_class_can_be_set_heavier_lighter_or_off() {
    let with = |class: &str, level| {
        let mut stage = stage();
        stage.rules.destructive.insert(class.to_owned(), level);
        stage
    };
    assert_eq!(with("publish", Level::Block).bash("npm publish").outcome(), Outcome::Block);
    assert_eq!(with("git-force-push", Level::Warn).bash("git push -f").outcome(), Outcome::Warn);
    assert_eq!(with("git-discard", Level::Off).bash("git reset --hard").outcome(), Outcome::Pass);
    let mut asking = stage();
    asking.rules.order[0].level = Level::Ask;
    assert_eq!(asking.bash("rm -rf /").outcome(), Outcome::Ask, "never more than the guard is set to");
}

#[test]
fn several_dangers_are_all_named_once() {
    let judged = stage().bash("git reset --hard && git reset --hard && npm publish");
    assert_eq!(judged.said().matches("git reset --hard").count(), 1, "{}", judged.said());
    assert!(judged.said().contains("npm publish"));
}

#[test]
fn it_is_the_same_for_other_clients_and_in_both_languages() {
    let mut codex = stage().lang(Lang::Ja);
    codex.agent = Client::Codex;
    let judged = codex.tool("Bash", &json!({"command": "rm -rf ~"}));
    assert_eq!(judged.outcome(), Outcome::Block);
    assert!(judged.said().contains("rm-root") && judged.said().contains("ユーザー"), "{}", judged.said());
    assert!(stage().bash("git reset --hard").said().contains("git stash"));
}

#[test]
fn every_class_has_the_name_the_configuration_knows() {
    let all = [
        Class::RmRoot,
        Class::RmOutside,
        Class::GitDiscard,
        Class::GitForcePush,
        Class::GitHistory,
        Class::Disk,
        Class::Perms,
        Class::System,
        Class::Service,
        Class::Database,
        Class::Cloud,
        Class::Publish,
    ];
    let mut names: Vec<&str> = all.map(Class::name).to_vec();
    let mut known = dandori_domain::guard::CLASSES.to_vec();
    names.sort_unstable();
    known.sort_unstable();
    assert_eq!(names, known);
}

#!/bin/bash
# One guard: its own process, one jq call for the fields it needs, and the files it goes by.
guard=$1
root=${CLAUDE_PROJECT_DIR:-.}
state=$root/state.md
subject=$(jq -r '(.tool_input.file_path // .tool_input.command // "") + "\n" + (.tool_input.new_string // .tool_input.content // "")')
refuse() { echo "$1" >&2; exit 2; }
value() { sed -n "s/^ *$1: *//p" "$state" 2>/dev/null | head -1; }
case $guard in
  init) [ -e "$root/.claude/.session-init/pending" ] && refuse "read the required files first" ;;
  main-branch) case $(sed 's#ref: refs/heads/##' "$root/.git/HEAD") in main | master) refuse "not on main" ;; esac ;;
  consent) [ -e "$root/.claude/.session-init/consent" ] && refuse "not confirmed yet" ;;
  pending) [ -e "$root/.claude/session-state/post-loop-pending" ] && refuse "call post-loop" ;;
  protected-edit) while read -r path; do [ -n "$path" ] && case $subject in *"$path"*) refuse "$path is protected" ;; esac; done < "$root/.claude/protected-files.txt" ;;
  playbook) playbook=$(value active); [ -n "$playbook" ] && [ "$playbook" != null ] || refuse "no playbook"; grep -q '^ *reviewed: true' "$root/$playbook" || refuse "not reviewed" ;;
  depends) grep -q 'depends_on' "$root/$(value active)" ;;
  file-dependencies) grep -rl --include='*.rs' "$(basename "${subject%%$'\n'*}" .rs)" "$root/src" > /dev/null 2>&1 ;;
  executor) grep -q 'executor: *codex' "$root/$(value active)" && echo "executor is codex" ;;
  critic) case $subject in *"state: done"*) [ "$(value self_complete)" = true ] || refuse "critic first" ;; esac ;;
  subtask) case $subject in *"- [x]"*) grep -q 'technical' "$root/$(value active)" || refuse "validations are missing" ;; esac ;;
  scope) grep -q 'scope' "$root/$(value active)" ;;
  bash) echo "$subject" | grep -Eq 'rm +-rf +/|git +push.*(--force|-f)' && echo "destructive?" ;;
  commit) echo "$subject" | grep -q 'git commit' && echo "update state.md" ;;
  coherence) [ -f "$state" ] || refuse "no state.md" ;;
  lint) echo "$subject" | grep -q 'git commit' ;;
esac
exit 0

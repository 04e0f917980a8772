#!/bin/bash
# The dispatcher: one event in, each guard in turn, the first refusal ends it.
here=$(cd "$(dirname "$0")" && pwd)
event=$(cat)
tool=$(echo "$event" | jq -r '.tool_name // empty')
case "$tool" in
  Edit | Write) guards="consent pending protected-edit playbook depends file-dependencies executor critic subtask scope" ;;
  Bash) guards="init main-branch consent pending protected-edit bash commit coherence lint scope" ;;
  *) guards="" ;;
esac
for guard in $guards; do
  echo "$event" | bash "$here/guard.sh" "$guard" || exit $?
done
exit 0

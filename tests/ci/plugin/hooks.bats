#!/usr/bin/env bats
# The hooks alone, sourced as the agent sources them, with a stub for python3. What Python decides is tested elsewhere.

load /usr/lib/bats/bats-support/load.bash
load /usr/lib/bats/bats-assert/load.bash

HOOKS="$BATS_TEST_DIRNAME/../../../ci/gpu-guard-buildkite-plugin/hooks"

setup() {
  bin=$BATS_TEST_TMPDIR/bin
  mkdir -p "$bin" "$BATS_TEST_TMPDIR/tmp"
  export TMPDIR=$BATS_TEST_TMPDIR/tmp
  for program in bash mktemp rm env ls; do ln -s "$(command -v $program)" "$bin/$program"; done
  unset GPU_GUARD_STATE GPU_GUARD_ENV
}

# What the stub does; its words go to the file `words`.
python3_does() {
  printf '#!/bin/bash\necho "$*" >> "%s/words"\n%s\n' "$BATS_TEST_TMPDIR" "$1" >"$bin/python3"
  chmod +x "$bin/python3"
}

# Source a hook as the agent's wrapper does, then print what would reach the command.
sourced() {
  run env PATH="$bin" bash -c ". '$HOOKS/$1'; status=\$?; echo \"A=\${A:-}\"; echo \"LIST=\${GPU_GUARD_ENV:-}\"; exit \$status"
}

@test "pre-command hands over what Python wrote, whatever the value holds" {
  python3_does 'echo "export A='"'"'x \$(touch bad) \"y\"'"'"'" > "$4"'
  sourced pre-command
  assert_success
  assert_line 'A=x $(touch bad) "y"'
  assert [ ! -e bad ]
}

@test "pre-command runs Python alone with itself: no site of the user, no checkout, no bytecode left" {
  python3_does true
  sourced pre-command
  run cat "$BATS_TEST_TMPDIR/words"
  assert_output --regexp "^-IB .*/hooks/\.\./gpu_guard/hooks/__main__\.py pre-command $TMPDIR/"
}

@test "pre-command ends as Python ends: 75 for want of memory" {
  python3_does 'exit 75'
  sourced pre-command
  assert_equal "$status" 75
}

@test "pre-command ends as Python ends: 2 for a wrong configuration" {
  python3_does 'exit 2'
  sourced pre-command
  assert_equal "$status" 2
}

@test "pre-command leaves no file behind" {
  python3_does 'exit 75'
  sourced pre-command
  run ls "$TMPDIR"
  assert_output ""
}

@test "pre-command ends as Python ends where there is no room for a file" {
  python3_does 'exit 75'
  TMPDIR=/nowhere sourced pre-command
  assert_equal "$status" 75
}

@test "without python3 the job goes on, and says that it is unguarded" {
  sourced pre-command
  assert_success
  assert_line "gpu-guard: python3 did not get through (exit status 127): the job runs unguarded"
}

@test "a python3 that is only a signpost, as of a version manager, counts as none" {
  python3_does 'echo "pyenv: python3: command not found" >&2; exit 127'
  sourced pre-command
  assert_success
  assert_line "gpu-guard: python3 did not get through (exit status 127): the job runs unguarded"
}

@test "a python3 that is broken fails no job" {
  python3_does 'echo "Fatal Python error: init_fs_encoding" >&2; exit 1'
  sourced pre-command
  assert_success
  assert_line "gpu-guard: python3 did not get through (exit status 1): the job runs unguarded"
}

@test "a driver that takes Python down with it fails no job" {
  python3_does 'kill -SEGV $$'
  sourced pre-command
  assert_success
  assert_line "gpu-guard: python3 did not get through (exit status 139): the job runs unguarded"
}

@test "a guard that is killed for want of memory fails no job" {
  python3_does 'kill -KILL $$'
  sourced pre-command
  assert_success
  assert_line "gpu-guard: python3 did not get through (exit status 137): the job runs unguarded"
}

@test "pre-command ends as a signal ended Python: the job was cancelled" {
  python3_does 'kill -TERM $$'
  sourced pre-command
  assert_equal "$status" 143
}

@test "the list of names is never empty: the docker plugin would stop the job" {
  sourced pre-command
  assert_line "LIST=GPU_GUARD_ENV"
}

@test "pre-exit never changes how the job ends" {
  python3_does 'exit 1'
  export GPU_GUARD_STATE=/somewhere
  sourced pre-exit
  assert_success
  run cat "$BATS_TEST_TMPDIR/words"
  assert_output --regexp "__main__\.py pre-exit$"
}

@test "pre-exit does nothing where pre-command did not come to its end" {
  python3_does true
  sourced pre-exit
  assert_success
  assert [ ! -e "$BATS_TEST_TMPDIR/words" ]
}

@test "pre-exit without python3 ends well" {
  export GPU_GUARD_STATE=/somewhere
  sourced pre-exit
  assert_success
}

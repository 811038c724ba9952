import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PolicyRule } from '../../../../../src/core/session/tool.ts';
import { commandRule, PolicyFixture } from './policy-fixture.ts';

let fixture: PolicyFixture;
beforeAll(async () => {
  fixture = await PolicyFixture.create();
});
afterAll(() => fixture.dispose());
beforeEach(() => fixture.reset());

const everything: PolicyRule = { effect: 'allow', tool: '*', kind: '*', pattern: '*' };
const pieces = "x='a[$'; y='(touch pwn)]'; z=$x$y; ";

describe('text that the shell evaluates as arithmetic', () => {
  it.each([
    "[[ 'a[$(touch PWN)]' -eq 0 ]]; true",
    "[[ 0 -lt 'a[$(touch PWN)]' ]] || :",
    "[[ -v 'a[$(touch pwn)]' ]]; :",
    "[[ -R 'a[$(touch pwn)]' ]]; :",
    '[[ ! ( -v z || a == b ) ]]; :',
    '((z)); true',
    '((1+z)); true',
    '((a[z]++)); true',
    '(( $z )); true',
    'true $((z))',
    'true "$((z))"',
    'true $((1 + a[z]))',
    'true $[z]',
    'true "$[$z]"',
    `true \${v:z}`,
    `true \${v:1:z}`,
    `true "\${v:$z}"`,
    `true \${q[z]}`,
    `true \${q[$z]}`,
    `true \${#q[z]}`,
    `true \${x:-\${q[z]}}`,
    `true \${x//$[z]/b}`,
    'a[z]=1; true',
    'a[$z]+=1; true',
    'a[z]=1 true',
    'a=([z]=1); true',
    'a=(b [$z]=1); true',
    '[[ z -eq 1 ]]; true',
    '[[ a == a && $z -gt 1 ]]; true',
    'for ((i=z;0;)); do true; done',
    'for ((;z;)); do true; done',
    'for ((;;z)); do true; done',
    'true <<E\n$((z))\nE',
    'true <<< $((z))',
    'case $((z)) in *) true;; esac',
    'true > /dev/null$((z))',
    'bash -c "((z))"',
    'eval "[[ z -eq 1 ]]"',
    'let z',
    'let "$z"',
    'test -v "$z"',
    '[ -v "$z" ]',
    '[ "$o" "$z" ]',
    'printf -v "$z" x',
    'printf $z',
    'read "$z"',
    'unset "$z"',
    'mapfile "$z"',
    'declare -i v=z',
    'declare "$z"',
    "declare 'a[z]=1'",
    'export $z',
  ])('makes the whole script unknown: %s', async (text) => {
    fixture.userRules(everything);
    expect(await fixture.run(text)).toBe('ask');
    expect(await fixture.run(pieces + text)).toBe('ask');
    expect(await fixture.run(text, 'code')).toBe('ask');
    const decision = await fixture.decide('ask', [fixture.command(text)]);
    expect(decision).toMatchObject({ decision: 'ask', remember: [] });
  });

  it.each([
    '[[ -n $z && -f a.txt ]]; true',
    '[[ $z == a* || ! -d src ]]; true',
    '[[ a.txt -nt b.txt ]]; true',
    'true $((1 + 2 * (3 - 1)))',
    'true $[1+2]',
    '((1 < 2)); true',
    'for ((; 0; )); do true; done',
    'for ((1;0;2)) { true; }',
    `true \${v:1:2} \${v: -1} \${q[0]} \${q[@]} \${#q[*]} \${x:-y} \${x%.ts}`,
    'a=(b c); true',
    'a[0]=1; true',
    '[ "$z" = b ] && [ -f "$z" ] && [ "$z" -gt 3 ]',
    '[ -v name ]',
    'while read -r -p Name -t 5 line; do true; done < a.txt',
    'printf "%s\\n" "$z"',
    'declare -r v=1; local w="$z"; unset v',
    'mapfile -t lines < a.txt',
  ])('leaves alone what holds only numbers or is compared as it is: %s', async (text) => {
    fixture.userRules(everything);
    expect(await fixture.run(text)).toBe('allow');
  });

  it.each([
    '[ $z ]',
    '[ x = $z ]',
    '[ $z -gt 3 ]',
    'test "a"$z = b',
    '[ -n x$z ]',
    '[ "$(f)" = $z ]',
  ])('is no matter for a rule where a word may become several: %s', async (text) => {
    fixture.userRules(everything);
    expect(await fixture.run(text)).toBe('ask');
    expect(await fixture.run(text, 'code')).toBe('allow');
  });

  const risky = fc.oneof(
    fc.stringMatching(/^[a-z_][a-z0-9_]{0,4}$/),
    fc.constantFrom('$z', '$1', '$?', `\${z}`, '"$z"', 'a[0]', 'a[$z]', '1+z', '(z)', 'z=1', '-z'),
  );
  const node = fc
    .tuple(
      risky,
      fc.constantFrom<(e: string) => string>(
        (e) => `((${e})); true`,
        (e) => `true $((${e}))`,
        (e) => `true "$((2*(${e})))"`,
        (e) => `true $[${e}]`,
        (e) => `true \${v: ${e}}`,
        (e) => `true \${v:0: ${e}}`,
        (e) => `true \${q[${e}]}`,
        (e) => `a[${e}]=1; true`,
        (e) => `a=([${e}]=1); true`,
        (e) => `[[ ${e} -ge 1 ]]; true`,
        (e) => `[[ -v ${e} ]]; true`,
        (e) => `for ((i=${e};0;)); do true; done`,
        (e) => `for ((;${e};)); do true; done`,
        (e) => `let ${e}; true`,
      ),
    )
    .map(([inner, build]) => build(inner));
  const around = fc.constantFrom<(t: string) => string>(
    (t) => t,
    (t) => `${pieces}${t}`,
    (t) => `(${t})`,
    (t) => `if true; then ${t}\nfi`,
    (t) => `true "$(${t})"`,
    (t) => `f() { ${t}\n}; f`,
    (t) => `true | { ${t}\n}`,
    (t) => `true <(${t})`,
  );

  it('is never allowed where it holds a name or an expansion, whatever the rules', async () => {
    fixture.userRules(everything);
    await fc.assert(
      fc.asyncProperty(node, around, around, async (text, inner, outer) => {
        expect(await fixture.run(outer(inner(text)))).not.toBe('allow');
      }),
      { numRuns: 500 },
    );
  });
});

describe('a script that sets a variable which may decide what runs', () => {
  it.each([
    'for PATH in evil; do git status; done',
    'for GIT_PAGER; do git status; done',
    'select PATH in evil; do git status; done',
    '((PATH=1)); git status',
    'true {PATH}<a.txt; git status',
    'exec {LD_PRELOAD}<a.txt; git status',
    'read PATH <<< evil; git status',
    'read -r -p x PATH <<< evil; git status',
    'read -pp PATH <<< evil; git status',
    'read -a PATH <<< evil; git status',
    'read -raPATH <<< evil; git status',
    'printf -v PATH evil; git status',
    'printf -vPATH evil; git status',
    'mapfile PATH < a.txt; git status',
    'mapfile -t -C git\\ x lines < a.txt; git status',
    'readarray -t GIT_DIR < a.txt; git status',
    'getopts ab PATH; git status',
    'wait -n -p PATH; git status',
    'declare PATH=evil; git status',
    'declare -n p=PATH; p=evil; git status',
    'export PATH; git status',
    'export GIT_PAGER=evil; git status',
    'f() { local PATH=evil; git status; }; f',
    'readonly GIT_DIR=x; git status',
    'typeset -x LD_PRELOAD=x; git status',
    'unset PATH; git status',
    'coproc PATH { true; }; git status',
    `true \${PATH:=evil}; git status`,
    `true "\${GIT_PAGER=evil}"; git status`,
    'PATH=evil git status',
    'PATH+=:evil; git status',
    'set -k; git status GIT_PAGER=evil',
    'set -o keyword; git status',
    'command read PATH; git status',
    'builtin export PATH=evil; git status',
  ])('is asked about though a rule allows the command: %s', async (text) => {
    const names = 'read printf mapfile readarray getopts wait declare export set unset';
    fixture.userRules(
      commandRule('allow', 'git status'),
      ...`${names} local readonly typeset exec`
        .split(' ')
        .map((name) => commandRule('allow', `${name} *`)),
    );
    expect(await fixture.run(text)).toBe('ask');
    fixture.userRules(everything);
    expect(await fixture.run(text)).toBe('ask');
  });

  it('is allowed where the variable is harmless', async () => {
    fixture.userRules(commandRule('allow', 'git status'), commandRule('allow', 'read *'));
    expect(await fixture.run('for f in a b; do git status; done')).toBe('allow');
    expect(await fixture.run('read -r line < a.txt; git status')).toBe('allow');
    expect(await fixture.run('true {fd}<a.txt; git status')).toBe('allow');
  });
});

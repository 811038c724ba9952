import path from 'node:path';
import type { ShellWord } from './shell-words.ts';

/** What there is to say of a git command: why a person is asked, or that only a rule which names it whole fits. */
export type GitCare = { readonly caution?: string; readonly onlyExact: true };

const VALUED = new Set(['-C', '--work-tree', '--namespace']);
/** Options before the command that bring in configuration or programs. */
const FOREIGN = /^(-c|--config-env|--exec-path=|--git-dir|--attr-source)/;
/** Options after the command whose value is a program, or names a folder of hooks. Git takes their beginnings too. */
const PROGRAM_OPTIONS = [
  '--exec',
  '--extcmd',
  '--upload-pack',
  '--receive-pack',
  '--open-files-in-pager',
];
const SHORT_PROGRAM_OPTIONS: Readonly<Record<string, RegExp>> = {
  rebase: /^-[a-zA-Z]*x/,
  grep: /^-[a-zA-Z]*O/,
  difftool: /^-[a-zA-Z]*x/,
  clone: /^(-[a-zA-Z]*[cu]|--(conf|temp))/,
  init: /^--temp/,
};
/** Commands that write configuration or run what it names, by the words that make them do so. */
const SETTING: Readonly<Record<string, RegExp>> = {
  remote: /^(add|set-url|set-head|set-branches|rename|remove|rm|prune|update)$/,
  submodule: /^(add|init|deinit|update|set-branch|set-url|foreach|sync|absorbgitdirs)$/,
  bisect: /^run$/,
  hook: /^run$/,
  maintenance: /^(start|stop|register|unregister)$/,
  lfs: /^(install|uninstall|update)$/,
};
const ALWAYS = /^(filter-branch|credential.*|scalar)$/;

/**
 * Git runs programs that its configuration names, as the person and also later on. Looks whether a command changes
 * that, or brings in another configuration; null for other commands.
 */
export function gitCare(words: readonly ShellWord[]): GitCare | null {
  const all = gitWords(words);
  if (all === null) return null;
  let at = 0;
  let elsewhere = false;
  for (; at < all.length; at += 1) {
    const value = all[at]?.value ?? null;
    if (value === null) return care('what git is to do is only known when it runs');
    if (!value.startsWith('-')) break;
    if (FOREIGN.test(value)) return care(`${value.split('=')[0]} can make git run other programs`);
    if (VALUED.has(value)) at += 1;
    elsewhere ||= value === '-C' || value.startsWith('--work-tree');
  }
  const name = all[at]?.value ?? '';
  const why = settingWhy(name, all.slice(at + 1));
  if (why !== null) return care(why);
  return elsewhere ? { onlyExact: true } : null;
}

function care(caution: string): GitCare {
  return { caution, onlyExact: true };
}

/** The words after `git`; null for another command. `git-config` is `git config`. */
function gitWords(words: readonly ShellWord[]): readonly ShellWord[] | null {
  const [name, ...rest] = words;
  const base = path.posix.basename(name?.value ?? '');
  if (name === undefined || !/^git(-.+)?$/.test(base)) return null;
  if (base === 'git') return rest;
  return [{ text: base, value: base.slice('git-'.length), globPrefix: null }, ...rest];
}

function settingWhy(name: string, args: readonly ShellWord[]): string | null {
  const values = args.map(({ value }) => value);
  const short = Object.hasOwn(SHORT_PROGRAM_OPTIONS, name) ? SHORT_PROGRAM_OPTIONS[name] : null;
  const end = values.indexOf('--');
  const options = (end === -1 ? values : values.slice(0, end)).filter((value) => value !== null);
  if (options.some((value) => short?.test(value) === true || namesProgram(value)))
    return `an option of git ${name} names a program to run`;
  if (ALWAYS.test(name)) return `git ${name} runs programs or shows secrets`;
  if (name === 'config') return writesConfig(values) ? 'it changes what git does and runs' : null;
  const setting = Object.hasOwn(SETTING, name) ? SETTING[name] : undefined;
  const first = values.find((value) => value === null || !value.startsWith('-'));
  if (setting === undefined || first === undefined) return null;
  return first === null || setting.test(first)
    ? `git ${name} can change which programs git runs`
    : null;
}

function namesProgram(option: string): boolean {
  const name = option.split('=')[0] ?? '';
  return name.length > 4 && PROGRAM_OPTIONS.some((each) => each.startsWith(name));
}

/** `git config NAME` and the options that get or list only read. */
function writesConfig(values: readonly (string | null)[]): boolean {
  const rest = values.filter(
    (value) =>
      !/^(--(global|local|system|worktree|show-origin|show-scope|null|name-only|includes|no-includes|type=.*|bool|int|path)|-z)$/.test(
        value ?? '',
      ),
  );
  const [first] = rest;
  if (first === undefined) return false;
  if (/^(--get(-all|-regexp|-urlmatch|-color|-colorbool)?|--list|-l|list|get)$/.test(first ?? ''))
    return false;
  return rest.length > 1 || first === null || first.startsWith('-');
}

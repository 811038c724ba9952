import picomatch from 'picomatch';

/** What a process shows of itself below `/proc`: its environment, its memory, and the files it has. */
const SECRETS = [
  'environ',
  'mem',
  'root',
  'fd',
  'fdinfo',
  'cwd',
  'maps',
  'smaps',
  'numa_maps',
  'map_files',
  'auxv',
  'stack',
  'syscall',
];
/** Files that say something of the machine only. */
const HARMLESS =
  /^\/proc\/(cpuinfo|meminfo|version|uptime|loadavg|stat|filesystems|mounts|sys\/kernel\/.+)$/;

/** What a path below `/proc` needs; null for any other path, and for what tells only of the machine. */
export function processGuard(
  file: string,
): { readonly level: 'deny' | 'ask'; readonly reason: string } | null {
  if (!file.startsWith('/proc/') || HARMLESS.test(file)) return null;
  const [, , ...names] = file.split('/');
  const ofProcess = names[0] !== 'sys' && names[0] !== 'net';
  if (ofProcess && names.slice(1).some(showsProcess))
    return { level: 'deny', reason: 'shows the environment, memory or files of a process' };
  return { level: 'ask', reason: 'tells of other processes' };
}

/** True for what only reads what is known to be harmless below `/proc`. */
export function isHarmlessProcess(file: string): boolean {
  return HARMLESS.test(file);
}

/** True if a name, or a wildcard as the shell writes it, may be one of a process's secrets. */
export function showsProcess(name: string): boolean {
  if (!/[*?[]/.test(name)) return SECRETS.includes(name);
  return (
    name.replaceAll(/[*?]/g, '') !== '' && SECRETS.some((each) => picomatch.isMatch(each, name))
  );
}

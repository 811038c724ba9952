import path from 'node:path';
import type { CommandAnalysis, CommandPart } from './analysis-types.ts';

/**
 * Commands that are denied in every mode and that no rule can allow. The list is short on purpose: each entry destroys
 * more than any task needs, and can't be undone.
 * - making file systems and partitions (`mkfs*`, `wipefs`, `fdisk`, …);
 * - turning the machine off or restarting it;
 * - writing to a raw device (`dd of=/dev/…`, `> /dev/sda`);
 * - a recursive remove, chmod or chown of `/`, of the home folder, of a folder above the workspace, or of a system folder;
 * - a function that calls itself more than once (fork bomb).
 */
export function commandFloor(
  analysis: CommandAnalysis,
  place: { readonly home: string; readonly cwd: string; readonly roots: readonly string[] },
): string | null {
  const [bomb] = analysis.bombs;
  if (bomb !== undefined)
    return `the function ${bomb} calls itself more than once, as a fork bomb does`;
  for (const part of analysis.parts) {
    const reason = partFloor(part, place, analysis);
    if (reason !== null) return `\`${part.text}\`: ${reason}`;
  }
  for (const { access, target } of analysis.files)
    if (access === 'write' && isRawDevice(target.value))
      return `it writes to the device ${target.text}`;
  return null;
}

const FILE_SYSTEM =
  /^(mkfs(\..+)?|mke2fs|mkswap|wipefs|fdisk|sfdisk|cfdisk|gdisk|sgdisk|parted|blkdiscard)$/;
const POWER = /^(shutdown|reboot|halt|poweroff)$/;
const SYSTEM_FOLDERS = new Set([
  '/',
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/home',
  '/lib',
  '/lib64',
  '/opt',
  '/proc',
  '/root',
  '/sbin',
  '/sys',
  '/usr',
  '/var',
  '/Users',
  '/System',
  '/Library',
  '/Applications',
]);

function partFloor(
  part: CommandPart,
  place: Parameters<typeof commandFloor>[1],
  analysis: CommandAnalysis,
): string | null {
  const [name = '', ...args] = part.words.map(({ value }) => value ?? '');
  const base = path.posix.basename(name);
  if (FILE_SYSTEM.test(base)) return 'it destroys what is on a disk';
  if (POWER.test(base) || (/^(init|telinit)$/.test(base) && /^[06]$/.test(args[0] ?? '')))
    return 'it turns the machine off or restarts it';
  if (base === 'systemctl' && args.some((arg) => /^(poweroff|reboot|halt|kexec)$/.test(arg)))
    return 'it turns the machine off or restarts it';
  if (args.some((arg) => isRawDevice(arg.replace(/^of=/, ''))) && WRITES_DEVICE.has(base))
    return 'it writes to a device';
  if (!isRecursive(base, args)) return null;
  const folders = [place.cwd, ...analysis.folders.map(({ value }) => value ?? place.cwd)];
  return part.words.slice(1).some((word) => reachesTooFar(word, folders, place))
    ? 'it reaches everything in a folder far above the work'
    : null;
}

const WRITES_DEVICE = new Set(['dd', 'tee', 'cp', 'mv', 'shred', 'cat']);

function isRawDevice(target: string | null): boolean {
  return (
    target !== null &&
    /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|loop|dm-|mapper\/|mem$|kmem$|port$)/.test(
      path.posix.normalize(target),
    )
  );
}

function isRecursive(base: string, args: readonly string[]): boolean {
  if (!['rm', 'chmod', 'chown', 'chgrp'].includes(base)) return false;
  return args.some(
    (arg) =>
      arg === '--recursive' ||
      /^-[a-zA-Z]*[rR][a-zA-Z]*$/.test(arg) ||
      arg === '--no-preserve-root',
  );
}

function reachesTooFar(
  word: CommandPart['words'][number],
  folders: readonly string[],
  place: Parameters<typeof commandFloor>[1],
): boolean {
  // `/*` and `~/*` are as bad as `/` and `~`.
  const glob = word.globPrefix !== null && /^[*.]+$/.test(word.text.split('/').at(-1) ?? '');
  const written = word.value ?? (glob ? word.globPrefix : null);
  if (written === null || written.startsWith('-')) return false;
  // A bare `*` is what it says: the files of the folder it is used in.
  const target = written === '' ? '.' : written;
  return folders.some((folder) => {
    const full = path.resolve(place.cwd, folder, target);
    const above = place.roots.some((root) => root !== full && root.startsWith(slashed(full)));
    return SYSTEM_FOLDERS.has(full) || full === place.home || above;
  });
}

function slashed(folder: string): string {
  return folder.endsWith('/') ? folder : `${folder}/`;
}

/**
 * Variables that change no more than how a program talks. All others may decide what runs: PATH, LD_PRELOAD, GIT_*,
 * NODE_OPTIONS, EDITOR and many more.
 */
const HARMLESS =
  /^(CI|DEBUG|NODE_ENV|LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|RUST_LOG|RUST_BACKTRACE|PORT|HOST|VERBOSE|LOG_LEVEL|[a-z][a-z0-9_]*)$/;
/** Lower-case names that mean something to programs all the same. */
const HARMFUL =
  /^(https?_proxy|all_proxy|ftp_proxy|no_proxy|path|cdpath|fpath|module_path|npm_config_.*)$/;

/** True for a variable that can't change which program runs, or what code it loads. */
export function isHarmlessVariable(name: string): boolean {
  return HARMLESS.test(name) && !HARMFUL.test(name);
}

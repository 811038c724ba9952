// Preloaded into the VS Code server: ends it when whoever started it is gone, however that happened.
if (process.argv[1]?.endsWith('server-main.js')) {
  const starter = process.ppid;
  setInterval(() => {
    if (process.ppid !== starter) process.kill(process.pid, 'SIGTERM');
  }, 1000).unref();
}

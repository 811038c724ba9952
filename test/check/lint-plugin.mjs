const message = 'This room is pure: take time, randomness and I/O through a port (design §4.11).';

/** Refuses `new Date()` and `Date()`, which read the clock; `new Date(ms)` only converts and may stay. */
const noAmbientDate = {
  create(context) {
    function check(node) {
      const isDate = node.callee.type === 'Identifier' && node.callee.name === 'Date';
      const readsClock = node.type === 'CallExpression' || node.arguments.length === 0;
      if (isDate && readsClock) context.report({ node, message });
    }
    return { NewExpression: check, CallExpression: check };
  },
};

// oxlint takes a plugin as the default export.
export default {
  meta: { name: 'pilothouse' },
  rules: { 'no-ambient-date': noAmbientDate },
};

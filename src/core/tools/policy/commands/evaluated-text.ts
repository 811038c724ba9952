import type { ParameterOperation, SyntaxNode, Word } from 'unbash';

/**
 * Bash evaluates some texts as arithmetic: there a name is looked up, its value is evaluated in turn, and `a[$(…)]`
 * runs a command, wherever the text came from. Only decimal numbers and operators are safe. Says why a node may run
 * something this way; null if it can't. `source` is what the positions of the node are about.
 */
export function evaluates(node: SyntaxNode, source: string): string | null {
  const risky = riskyText(node, source);
  return risky === null ? null : `\`${risky}\` may run what a variable holds`;
}

function riskyText(node: SyntaxNode, source: string): string | null {
  return riskyArithmetic(node, source) ?? riskyTest(node) ?? riskySubscript(node);
}

function riskyArithmetic(node: SyntaxNode, source: string): string | null {
  switch (node.type) {
    case 'ArithmeticWord':
      return isLiteral(node.value) ? null : node.value;
    case 'ArithmeticCommandExpansion':
      return node.text;
    case 'ArithmeticCommand':
      return isLiteral(node.body) ? null : `((${node.body}))`;
    case 'ArithmeticExpansion':
      return isLiteral(node.text.replace(/^\$(\(\(|\[)|(\)\)|\])$/g, '')) ? null : node.text;
    case 'ArithmeticFor': {
      const head = source.slice(node.pos, node.body.pos).replace(/;?\s*(do|\{)?\s*$/, '');
      return isLiteral(head.replace(/^for/, '').replaceAll(';', ' ')) ? null : head;
    }
    default:
      return null;
  }
}

function riskyTest(node: SyntaxNode): string | null {
  switch (node.type) {
    case 'TestUnary':
      return SAFE_UNARY.has(node.operator) ? null : `[[ ${node.operator} ${node.operand.text} ]]`;
    case 'TestBinary':
      return SAFE_BINARY.has(node.operator)
        ? null
        : `[[ ${node.left.text} ${node.operator} ${node.right.text} ]]`;
    default:
      return null;
  }
}

function riskySubscript(node: SyntaxNode): string | null {
  switch (node.type) {
    case 'ParameterExpansion':
      return isSubscript(node.index) && isPlain(node.operation) ? null : node.text;
    case 'Assignment':
      return isSubscript(node.index) ? null : node.text;
    case 'ArrayValue':
      return node.elements.find(({ text }) => text.startsWith('['))?.text ?? null;
    default:
      return null;
  }
}

/** Tests of `[[ ]]` that take their words as they are; `-v` and `-R` look at a subscript, `-eq` and its like count. */
const SAFE_UNARY = new Set(
  '-n -z -a -b -c -d -e -f -g -h -k -p -r -s -t -u -w -x -G -L -N -O -S'.split(' '),
);
const SAFE_BINARY = new Set('= == != =~ < > -ef -nt -ot'.split(' '));

/** True for decimal numbers and operators. */
export function isLiteral(text: string): boolean {
  return /^[\d\s+\-*/%()<>=!&|^~?:,]*$/.test(text);
}

function isSubscript(index: Word | undefined): boolean {
  return index === undefined || index.text === '@' || index.text === '*' || isLiteral(index.text);
}

function isPlain(operation: ParameterOperation | undefined): boolean {
  if (operation?.type === 'Unknown') return false;
  if (operation?.type !== 'Slice') return true;
  return isLiteral(operation.offset.text) && isLiteral(operation.length?.text ?? '');
}

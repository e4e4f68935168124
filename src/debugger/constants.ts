/** Constants of contracts: they have no storage, and their values stand in the sources. Those that are literals are read. */
import { isNode, type SyntaxNode } from '../source-level/syntax-tree.ts'
import { typeText } from './source-types.ts'

/** A constant, as it is shown. */
export interface Constant {
  readonly name: string
  readonly type: string
  readonly text: string
}

/** A number as Solidity writes it, without units, fractions and exponents; `undefined` for another text. */
function numberIn(text: string): bigint | undefined {
  const digits = text.replaceAll('_', '')
  return /^(\d{1,78}|0x[0-9a-f]{1,64})$/i.test(digits) ? BigInt(digits) : undefined
}

function literalText({ kind, value, subdenomination }: SyntaxNode, type: string): string | undefined {
  if (typeof value !== 'string' || typeof subdenomination === 'string') return undefined
  if (kind === 'bool' || type === 'bool') return value
  if (kind === 'string') return type.startsWith('string') ? JSON.stringify(value) : undefined
  if (kind !== 'number') return undefined
  if (/^u?int\d*$/.test(type)) return numberIn(value)?.toString()
  return type.startsWith('address') && /^0x[0-9a-f]{40}$/i.test(value) ? value.toLowerCase() : undefined
}

function valueIn(node: SyntaxNode, type: string): string | undefined {
  if (node.nodeType === 'Literal') return literalText(node, type)
  const { subExpression, operator, prefix } = node
  const isNegative = node.nodeType === 'UnaryOperation' && operator === '-' && prefix === true
  if (!isNegative || !isNode(subExpression) || subExpression.nodeType !== 'Literal') return undefined
  const text = literalText(subExpression, type)
  return text !== undefined && type.startsWith('int') ? `-${text}` : undefined
}

/** The constant that a declaration of a variable is; `undefined` for another one, or where its value is no literal. */
export function constantIn(node: SyntaxNode): Constant | undefined {
  const { nodeType, name, value, constant, mutability } = node
  const isConstant = constant === true || mutability === 'constant'
  if (nodeType !== 'VariableDeclaration' || !isConstant || typeof name !== 'string') return undefined
  const type = typeText(node)
  const text = isNode(value) ? valueIn(value, type) : undefined
  return text === undefined ? undefined : { name, type, text }
}

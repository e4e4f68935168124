/** The variables that the node's debugger shows. */

const NO_BREAKPOINTS = { lines: new Map(), events: new Set(), failures: false }

/** A value and its parts as plain data. Enums are named as by Truffle, without the contract that declares them. */
function plain(value) {
  const isList = /\]( (memory|storage|calldata))?$/.test(value.type)
  if (value.size === 0) {
    if (isList) return []
    if (value.type.startsWith('mapping(')) return {}
    return value.type.startsWith('enum ') ? value.text.split('.').slice(-2).join('.') : value.text
  }
  const parts = value.parts(0, value.size)
  return isList ? parts.map(plain) : Object.fromEntries(parts.map((part) => [part.name, plain(part)]))
}

/**
 * What the debugger shows before each statement of a transaction, by step: the values of variables by name, of which those of
 * the function hide those of the contract.
 */
export async function ownVariables(node, hash) {
  const { block, index } = node.engine.queries.transaction(hash)
  const opened = await node.engine.debugger.open({ kind: 'transaction', block, index })
  const { session } = opened
  const found = new Map()
  session.goTo(0)
  while ((await session.move('into', 'forward', NO_BREAKPOINTS)).reason !== 'end') {
    const [{ contract, function: called, line }] = session.stack()
    const shown = ['state', 'locals', 'message'].flatMap((scope) => session.variables(0, scope) ?? [])
    const values = shown.filter(({ name }) => name !== 'arguments' && name !== '')
    found.set(session.step, {
      pc: session.machine(0).pc,
      at: `${contract}.${called}:${line}`,
      values: Object.fromEntries(values.map((value) => [value.name, plain(value)])),
    })
  }
  opened.close()
  return found
}

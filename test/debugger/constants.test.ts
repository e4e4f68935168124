/** Constants by their literals, as Solidity's documentation writes them; the one of a contract that a compiler read. */
import { describe, expect, it } from 'vitest'
import { constantIn } from '../../src/debugger/constants.ts'
import { DebugSources } from '../../src/debugger/debug-sources.ts'
import { CompilationMap } from '../../src/source-level/compilation-map.ts'
import { readCompilation } from '../../src/sources/read-compilation.ts'
import { debuggerBuild } from '../support/debugger-cases.ts'

const declared = (type: string, value: object) =>
  constantIn({
    nodeType: 'VariableDeclaration',
    name: 'X',
    constant: true,
    typeDescriptions: { typeString: type },
    value: { nodeType: 'Literal', ...value },
  })?.text

describe('a constant', () => {
  it.each([
    ['uint256', { kind: 'number', value: '1_000' }, '1000'],
    ['uint8', { kind: 'number', value: '0xff' }, '255'],
    ['bool', { kind: 'bool', value: 'true' }, 'true'],
    ['string', { kind: 'string', value: 'a "text"' }, '"a \\"text\\""'],
    [
      'address',
      { kind: 'number', value: '0xdCad3a6d3569DF655070DEd06cb7A1b2Ccd1D3AF' },
      '0xdcad3a6d3569df655070ded06cb7a1b2ccd1d3af',
    ],
    ['int8', negated('5'), '-5'],
  ])('of type %s has the value of its literal', (type, value, text) => {
    expect(declared(type, value)).toBe(text)
  })

  it.each([
    ['uint256', { kind: 'number', value: '1', subdenomination: 'ether' }],
    ['uint256', { kind: 'number', value: '2e10' }],
    ['uint256', { nodeType: 'BinaryOperation' }],
    ['bytes4', { kind: 'number', value: '0x01020304' }],
  ])('of type %s is not shown where it is computed', (type, value) => {
    expect(declared(type, value)).toBeUndefined()
  })

  it('is one of its contract', async () => {
    const compilation = readCompilation(debuggerBuild('Variables-0.8.21'))
    const sources = await DebugSources.read(compilation, new CompilationMap(compilation))
    const limit = { name: 'LIMIT', type: 'uint256', text: '12' }
    expect(sources.constantsOf('Variables', 'Variables.sol')).toEqual([limit])
    expect(sources.constantsOf('Other', 'Variables.sol')).toEqual([])
  })
})

function negated(value: string): object {
  const subExpression = { nodeType: 'Literal', kind: 'number', value }
  return { nodeType: 'UnaryOperation', operator: '-', prefix: true, subExpression }
}

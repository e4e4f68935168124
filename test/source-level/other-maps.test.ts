/** Maps of Vyper, by the examples in its own tests, and ETHDebug programs, which agree with the source maps beside them. */
import { describe, expect, it } from 'vitest'
import { CompilationMap } from '../../src/source-level/compilation-map.ts'
import { readEthdebug, readVyperMap } from '../../src/source-level/other-maps.ts'
import { readSourceMap } from '../../src/source-level/source-map.ts'
import { readCompilation } from '../../src/sources/read-compilation.ts'
import { debuggerBuild } from '../support/debugger-cases.ts'

const NAME = { file: 'New.sol', name: 'New' }

describe('Vyper', () => {
  it('has maps in the form of solc before 0.4 (test_expand_source_map in its tests)', () => {
    const map = readSourceMap('-1:-1:0:-;;13:42:1;:21;::0:o;:::-;1::1;', 7)
    const entries = Array.from({ length: 7 }, (_, i) => [map.starts[i], map.lengths[i], map.files[i]])
    expect(entries).toEqual([
      [-1, -1, 0],
      [-1, -1, 0],
      [13, 42, 1],
      [13, 21, 1],
      [13, 21, 0],
      [13, 21, 0],
      [1, 21, 1],
    ])
    expect(map.jumpAt(4)).toBe('out')
  })

  it('has an entry for each byte of the code from 0.4 on, and no map behind what is malformed', () => {
    const map = readVyperMap('0:45:0:-;-1:-1:-1;1:4:0:o;-1:-1:-1;45:49', 6)
    expect(map.length).toBe(4)
    expect([map.starts[2], map.lengths[2], map.files[2], map.jumpAt(2)]).toEqual([1, 4, 0, 'out'])
    expect([map.files[1], map.jumpAt(0)]).toEqual([-1, 'none'])
  })

  it.each(['0.3.10', '0.4.3'])('has functions, whose places it counts in characters: %s', (version) => {
    const content = '# é – 🦊\n@external\ndef f(a: uint256) -> uint256:\n    return a + 1\n'
    const characters = [...content].length
    const start = [...content.slice(0, content.indexOf('return'))].length
    // PUSH1 1, JUMPDEST, STOP
    const map =
      version === '0.3.10'
        ? `-1:-1:0:-;${start}:12:0:-;-1:-1:0:-`
        : `0:9:0:-;-1:-1:-1;${start}:12:0:-;-1:-1:-1`
    const compilation = readCompilation({
      solcVersion: version,
      input: { language: 'Vyper', sources: { 'A.vy': { content } } },
      output: {
        sources: {
          'A.vy': {
            id: 0,
            ast: {
              ast_type: 'Module',
              body: [
                {
                  ast_type: 'FunctionDef',
                  name: 'f',
                  src: `${[...content.slice(0, content.indexOf('@external'))].length}:${characters}:0`,
                  args: { args: [{}] },
                  decorator_list: [{ ast_type: 'Name', id: 'external' }],
                },
              ],
            },
          },
        },
        contracts: {
          'A.vy': {
            A: {
              abi: [],
              evm: {
                deployedBytecode: { object: '60015b00', sourceMap: map },
                methodIdentifiers: { 'f(uint256)': '0xb3de648b' },
              },
            },
          },
        },
      },
    })
    const code = new CompilationMap(compilation).code({ file: 'A.vy', name: 'A' }, false)
    const range = code?.at(2)?.range
    expect(range?.file.textOf(range)).toBe('return a + 1')
    expect(range?.file.functionAround({ ...range, end: range.start })?.name).toBe('f')
    expect(code?.contract?.bySelector.get('b3de648b')?.isExternal).toBe(true)
  })
})

describe('ETHDebug', () => {
  const build = debuggerBuild('New-0.8.35-via-ir')
  const code = (change: (compiled: Record<string, unknown>) => void) => {
    const copy = structuredClone(build)
    const contract: unknown = copy.output.contracts['New.sol']?.New
    const { evm } = contract as { evm: { deployedBytecode: Record<string, unknown> } }
    change(evm.deployedBytecode)
    return new CompilationMap(readCompilation(copy)).code(NAME, false)
  }
  const rangesOf = (map: ReturnType<typeof code>) =>
    Array.from({ length: map?.length ?? 0 }, (_, pc) => {
      const range = map?.at(pc)?.range
      return range && [range.file.path, range.start, range.end]
    })

  it('places the instructions as the source map does, which it stands in for where that is cut off', () => {
    const mapped = rangesOf(code((compiled) => delete compiled.ethdebug))
    const told = rangesOf(code((compiled) => delete compiled.sourceMap))
    expect(told.filter((range) => range !== undefined).length).toBeGreaterThan(1000)
    expect(told).toEqual(mapped)
    const cut = code((compiled) => {
      compiled.sourceMap = String(compiled.sourceMap).slice(0, 500)
    })
    expect(rangesOf(cut)).toEqual(mapped)
  })

  it.each([
    null,
    {},
    { instructions: 7 },
    { instructions: [null, { offset: -1 }, { offset: 1e9, context: {} }] },
  ])('is nothing where it is malformed: %j', (program) => {
    const map = readEthdebug(program, 10)
    expect(map === undefined || map.files.every((file) => file === -1)).toBe(true)
  })
})

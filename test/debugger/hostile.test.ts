/** Sources that are damaged, foreign or huge: less is shown, and nothing fails. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DebugSources } from '../../src/debugger/debug-sources.ts'
import { CompilationMap } from '../../src/source-level/compilation-map.ts'
import { readCompilation } from '../../src/sources/read-compilation.ts'
import { DebuggerCase, debuggerBuild } from '../support/debugger-cases.ts'

const NOTHING = { lines: new Map(), events: new Set<never>(), failures: false } as const

type Json = { [key: string]: unknown }

/** All objects within a value, with themselves. */
function objectsIn(value: unknown, found: Json[] = []): Json[] {
  if (typeof value !== 'object' || value === null) return found
  if (!Array.isArray(value)) found.push(value as Json)
  for (const one of Object.values(value)) objectsIn(one, found)
  return found
}

/** How much was shown of each kind. */
type Shown = Record<'locals' | 'message' | 'state' | 'functions', number>

/** Opens `memories` of a damaged build, and asks for everything at some steps. */
async function walk(damage: (build: ReturnType<typeof debuggerBuild>) => void): Promise<Shown> {
  const of = await DebuggerCase.open('Old-0.8.35', damage)
  try {
    const { address } = await of.deploy(5, `0x${'12'.repeat(32)}`)
    const { session } = await of.debug(await of.call(address, 'memories', 2))
    const shown = { locals: 0, message: 0, state: 0, functions: 0 }
    for (let step = 0; step < session.length; step += 97) {
      session.goTo(step)
      for (const [frame, { function: called }] of session.stack().entries()) {
        if (called !== undefined) shown.functions++
        for (const scope of ['locals', 'message', 'state'] as const) {
          for (const value of session.variables(frame, scope) ?? []) {
            shown[scope] += value.parts(0, 10).length + 1
          }
        }
      }
      await session.move('over', 'forward', NOTHING)
      await session.move('into', 'back', NOTHING)
    }
    return shown
  } finally {
    await of.node.close()
  }
}

describe('a session with damaged sources', () => {
  const trees = (build: ReturnType<typeof debuggerBuild>): Json[] => objectsIn(build.output)

  it('shows less where members of the trees have other values', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(), fc.nat(), fc.constantFrom(null, -1, 1e12, '9:9:9', [], {}, 'x')), {
          minLength: 20,
          maxLength: 200,
        }),
        async (changes) => {
          await walk((build) => {
            const nodes = trees(build).filter(({ nodeType }) => nodeType !== undefined)
            for (const [at, member, value] of changes) {
              const node = nodes[at % nodes.length] as Json
              const keys = Object.keys(node)
              node[keys[member % keys.length] as string] = value
            }
          })
        },
      ),
      { numRuns: 6 },
    )
  })

  it('shows no locals with the trees of another source, and no functions without trees', async () => {
    const whole = await walk(() => {})
    expect(Math.min(...Object.values(whole))).toBeGreaterThan(0)
    const other = debuggerBuild('New-0.8.35').output as unknown as { sources: Json }
    const foreign = await walk((build) => {
      const { sources } = build.output as unknown as { sources: { 'Old.sol': Json } }
      sources['Old.sol'].ast = (other.sources['New.sol'] as Json).ast
    })
    const none = await walk((build) => {
      const { sources } = build.output as unknown as { sources: { 'Old.sol': Json } }
      delete sources['Old.sol'].ast
    })
    expect(foreign).toMatchObject({ locals: 0 })
    expect(none).toMatchObject({ locals: 0, functions: 0 })
  })

  it('shows less behind the end of a map that is cut off', async () => {
    const shown = await walk((build) => {
      for (const one of objectsIn(build.output)) {
        if (typeof one.sourceMap === 'string') one.sourceMap = one.sourceMap.slice(0, 1000)
      }
    })
    expect(shown.state).toBeGreaterThan(0)
    expect(shown.locals).toBeLessThan((await walk(() => {})).locals)
  })

  it('shows all of sources of 10 MB', async () => {
    const shown = await walk((build) => {
      const { sources } = (build as unknown as { input: { sources: Record<string, { content: string }> } })
        .input
      for (const source of Object.values(sources)) source.content += '// a long comment\n'.repeat(580_000)
    })
    expect(Math.min(...Object.values(shown))).toBeGreaterThan(0)
  })

  it('reads trees that hold themselves', async () => {
    const compilation = readCompilation(debuggerBuild('Old-0.8.35'))
    const [source] = Object.values(compilation.output.sources) as [{ ast: Json & { nodes: Json[] } }]
    const nodes = objectsIn(source.ast)
    for (const node of nodes) if (Array.isArray(node.nodes)) node.nodes.push(node, source.ast)
    const block = nodes.find(({ nodeType }) => nodeType === 'Block') as Json & { statements: Json[] }
    block.statements.push(block)
    const sources = await DebugSources.read(compilation, new CompilationMap(compilation))
    expect(sources.layoutOf('Old', 'Old.sol')?.variables.length).toBeGreaterThan(5)
  })

  it('reads structs that hold themselves, and types that are nested too deeply', async () => {
    const build = debuggerBuild('Old-0.8.35')
    const structs = trees(build).filter(({ nodeType }) => nodeType === 'StructDefinition')
    const [item] = structs as [Json & { members: Json[] }]
    const own = { nodeType: 'UserDefinedTypeName', referencedDeclaration: item.id }
    item.members.push({ nodeType: 'VariableDeclaration', name: 'own', typeName: own })
    let deep: Json = { nodeType: 'ElementaryTypeName', name: 'uint256' }
    for (let depth = 0; depth < 500; depth++) deep = { nodeType: 'ArrayTypeName', baseType: deep }
    item.members.push({ nodeType: 'VariableDeclaration', name: 'deep', typeName: deep })
    const compilation = readCompilation(build)
    const sources = await DebugSources.read(compilation, new CompilationMap(compilation))
    expect(sources.layoutOf('Old', 'Old.sol')).toBeUndefined()
  })
})

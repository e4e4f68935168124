/** The methods of a node by name, and which of them a caller may use. */
import { NodeError } from '../errors.ts'
import type { AnyMethod } from './method.ts'
import { namesOf, namespaceRules } from './method-names.ts'
import type { RpcOptions } from './rpc-options.ts'
import type { Session } from './session.ts'
import { unknownMethod } from './unknown-method.ts'

/** Methods by all of their names. */
export function methodsByName(methods: readonly AnyMethod[]): ReadonlyMap<string, AnyMethod> {
  return new Map(methods.flatMap((method) => namesOf(method).map((name) => [name, method] as const)))
}

/** May a caller know of this method: does its key open it, and can its transport serve it? */
const isOpenTo = (method: AnyMethod, session: Session): boolean =>
  session.allows(method) && !(method.notifies && session.notify === undefined)

/** What opens a method for which the node lacks something, as the end of a message. */
function needsOf({ namespace }: AnyMethod): string {
  return namespaceRules(namespace).needsBitcoin ? ': it is open with --bitcoin' : ''
}

/** All methods, and those that are open on one node. */
export class MethodTable {
  /** The methods that are open on this node. */
  readonly open: readonly AnyMethod[]
  readonly #known: ReadonlyMap<string, AnyMethod>
  readonly #isOpen: ReadonlySet<AnyMethod>
  readonly #preset: RpcOptions['preset']

  constructor(
    methods: readonly AnyMethod[],
    permits: (method: AnyMethod) => boolean,
    preset: RpcOptions['preset'],
  ) {
    this.open = methods.filter((method) => permits(method))
    this.#known = methodsByName(methods)
    this.#isOpen = new Set(this.open)
    this.#preset = preset
  }

  /** The method of this name, open or not. */
  get(name: string): AnyMethod | undefined {
    return this.#known.get(name)
  }

  /** The method of this name. Throws `method-not-found` where it does not exist, or is not open on this node or to this caller. */
  find(name: string, session: Session): AnyMethod {
    const method = this.#known.get(name)
    if (method === undefined) throw this.#unknown(name, session)
    if (!this.#isOpen.has(method)) throw this.#closed(method, name, session)
    // A method that is closed to the caller is refused like one that does not exist.
    if (!isOpenTo(method, session)) throw this.#unknown(name, session)
    return method
  }

  #unknown(name: string, session: Session): NodeError {
    const namesOpen = () => this.open.filter((method) => isOpenTo(method, session)).flatMap(namesOf)
    return unknownMethod(name, namesOpen, this.#preset)
  }

  #closed(method: AnyMethod, name: string, session: Session): NodeError {
    const isOfPreset = method.presets?.includes(this.#preset) === false
    const how = isOfPreset ? `: it is open under --preset ${method.presets?.join(' or ')}` : needsOf(method)
    if (how !== '' && !session.allows(method)) return this.#unknown(name, session)
    return new NodeError('method-not-found', `the method ${name} does not exist/is not available${how}`)
  }
}

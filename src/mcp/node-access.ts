/** The access of a caller to a node of this process. */
import type { ToolGroup } from '../options/mcp-settings.ts'
import type { AnyMethod } from '../rpc/method.ts'
import type { Session } from '../rpc/session.ts'
import type { Access } from './access.ts'
import { groupOf } from './groups.ts'
import { createNodeCaller } from './node-caller.ts'

/** What answers the calls. */
export interface AnsweringNode {
  /** The methods that are open on the node. */
  readonly methods: readonly AnyMethod[]
  dispatchText(text: string, session: Session): Promise<string | undefined>
}

/** The same session, for methods of these groups only. */
function within(session: Session, methods: readonly AnyMethod[], groups: ReadonlySet<ToolGroup>): Session {
  const open = methods.filter((method) => {
    const group = groupOf(method)
    return group !== undefined && groups.has(group)
  })
  const names = new Set(open.map(({ name }) => name))
  return { ...session, allows: (method) => names.has(method.name) && session.allows(method) }
}

/** What the caller of a session may reach of a node: the dispatcher holds it to the groups as well. */
export function nodeAccess(
  node: AnsweringNode,
  session: Session,
  rest: Pick<Access, 'groups' | 'answers' | 'howToAllow'>,
): Access {
  const own = within(session, node.methods, rest.groups)
  return {
    ...rest,
    node: createNodeCaller((text) => node.dispatchText(text, own)),
    methods: node.methods.filter((method) => session.allows(method)),
    owner: session.owner,
  }
}

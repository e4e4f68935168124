/** Settings of the tools for agents (Model Context Protocol). */
import { listOf, yesOrNo } from './kinds.ts'
import { setting } from './setting.ts'

/** The groups of tools: those of the first three change nothing. */
export const TOOL_GROUPS = ['read', 'simulate', 'trace', 'test', 'peg'] as const
/** The name of a group of tools. */
export type ToolGroup = (typeof TOOL_GROUPS)[number]

/** What agents may use unless more is allowed. */
export const READING_GROUPS: readonly ToolGroup[] = ['read', 'simulate', 'trace']

/** The groups that agents may use where these are allowed: those that change nothing, and the named ones. */
export function groupsAllowed(allowed: readonly string[]): ReadonlySet<ToolGroup> {
  return new Set(
    TOOL_GROUPS.filter(
      (group) => READING_GROUPS.includes(group) || allowed.includes(group) || allowed.includes('all'),
    ),
  )
}

/** The settings of the tools for agents. */
export const MCP_SETTINGS = {
  mcp: setting(yesOrNo, {
    flag: '--mcp',
    help: 'serve tools for agents (Model Context Protocol) at /mcp; a key opens them where keys are in use',
    fallback: false,
  }),
  mcpAllow: setting(
    listOf(new RegExp(`^(${TOOL_GROUPS.join('|')}|all)$`), 'groups of tools: test, peg or all'),
    {
      flag: '--mcp-allow <groups>',
      help: 'groups of tools that agents may use beside those that change nothing (read, simulate, trace): test, peg or all',
      fallback: [],
      fallbackText: 'none',
    },
  ),
}

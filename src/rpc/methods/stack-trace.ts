/** The stack trace of a transaction or a call, by the sources that the node knows. */
import { z } from 'zod'
import type { SourceTrace } from '../../engine/sources/model.ts'
import type { SourceFrame } from '../../errors.ts'
import { timeLeft } from '../deadlines.ts'
import { type Context, method } from '../method.ts'
import { either, optional } from '../parameter.ts'
import { placedSimulation } from '../simulation-options.ts'
import { placedRequest } from '../typed-request.ts'
import { BlockOverrides } from '../wire/block-overrides.ts'
import { CallBlock } from '../wire/block-reference.ts'
import { CallObject } from '../wire/call.ts'
import { StateOverrideSet } from '../wire/overrides.ts'
import { AddressText, TransactionHash } from '../wire/scalars.ts'
import { NOBODY } from './example-accounts.ts'

const Frame = z.lazy(() =>
  z
    .strictObject({
      kind: z.string(),
      contract: z.string().optional(),
      function: z.string().optional(),
      file: z.string().optional(),
      line: z.int().optional(),
      column: z.int().optional(),
      address: AddressText.optional(),
      message: z.string().optional(),
    })
    .meta({ id: 'SourceFrame', description: 'A frame of a stack trace; what is not known is absent' }),
)

const StackTrace = z.lazy(() =>
  z.strictObject({
    failed: z.boolean(),
    stackTrace: z.array(Frame),
    caught: z.array(z.strictObject({ traceAddress: z.array(z.int()), stackTrace: z.array(Frame) })),
    calls: z.array(
      z.strictObject({
        traceAddress: z.array(z.int()),
        contract: z.string().optional(),
        function: z.string().optional(),
        site: Frame.optional(),
      }),
    ),
  }),
)

const frames = (list: readonly SourceFrame[]): z.infer<typeof Frame>[] => list.map((frame) => ({ ...frame }))

function toStackTrace({ failed, frames: own, caught, calls }: SourceTrace): z.infer<typeof StackTrace> {
  return {
    failed,
    stackTrace: frames(own),
    caught: caught.map(({ traceAddress, frames: inner }) => ({
      traceAddress: [...traceAddress],
      stackTrace: frames(inner),
    })),
    calls: calls.map(({ traceAddress, ...call }) => ({ traceAddress: [...traceAddress], ...call })),
  }
}

async function ofTransaction(hash: `0x${string}`, context: Context): Promise<SourceTrace | undefined> {
  const { queries, stackTraces } = context.engine
  const { block, index } = queries.transaction(hash) ?? {}
  if (block === undefined || index === undefined) return undefined
  return stackTraces.ofTransaction(block, index, timeLeft(context))
}

/** A contract whose fallback function reverts, as a compiler would return it with its source. */
const GUARD_CODE = '60006000fd'
const GUARD_SOURCE = 'contract Guard { fallback() external { revert(); } }'
const GUARD = {
  solcVersion: '0.8.24',
  input: { language: 'Solidity', sources: { 'Guard.sol': { content: GUARD_SOURCE } } },
  output: {
    sources: {
      'Guard.sol': {
        id: 0,
        ast: {
          nodeType: 'SourceUnit',
          nodes: [
            {
              nodeType: 'ContractDefinition',
              id: 1,
              name: 'Guard',
              contractKind: 'contract',
              linearizedBaseContracts: [1],
              src: '0:52:0',
              nodes: [
                {
                  nodeType: 'FunctionDefinition',
                  kind: 'fallback',
                  name: '',
                  visibility: 'external',
                  stateMutability: 'nonpayable',
                  src: '17:33:0',
                },
              ],
            },
          ],
        },
      },
    },
    contracts: {
      'Guard.sol': {
        Guard: { abi: [], evm: { deployedBytecode: { object: GUARD_CODE, sourceMap: '39:8:0:-;;' } } },
      },
    },
  },
}

export const evm_stackTrace = method({
  name: 'evm_stackTrace',
  heavy: true,
  summary:
    'Runs a mined transaction again, or a call, and returns the stack of its failure by the sources that the node knows: `stackTrace`, outermost frame first; `caught`, the failures that the code caught; `calls`, the function that each message of the call tree called, and where from. Block and overrides are those of a call. Null for an unknown transaction.',
  params: {
    target: either((value) => typeof value === 'string', TransactionHash, CallObject),
    block: optional(CallBlock, 'latest'),
    stateOverrides: optional(StateOverrideSet, null),
    blockOverrides: optional(BlockOverrides, null),
  },
  result: () => StackTrace.nullable(),
  errors: ['block-not-found'],
  examples: [
    {
      after: [
        { method: 'evm_addSources', params: [GUARD] },
        { method: 'hardhat_setCode', params: [NOBODY, `0x${GUARD_CODE}`] },
      ],
      params: [{ to: NOBODY }],
      result: {
        failed: true,
        stackTrace: [
          {
            kind: 'revert',
            contract: 'Guard',
            function: '<fallback>',
            file: 'Guard.sol',
            line: 1,
            column: 40,
            message: 'reverted without a reason',
          },
        ],
        caught: [],
        calls: [{ traceAddress: [], contract: 'Guard', function: '<fallback>' }],
      },
    },
    { params: [`0x${'9'.repeat(64)}`], result: null },
  ],
  async run({ target, ...sent }, context) {
    if (typeof target === 'string') {
      const found = await ofTransaction(target, context)
      return found === undefined ? null : toStackTrace(found)
    }
    const place = placedSimulation(sent, context)
    const request = placedRequest(target, context.engine, place, 'target')
    return toStackTrace(await context.engine.stackTraces.ofCall(request, place.reference, place.options))
  },
})

/** The methods of this file, in the order of the document. */
export const STACK_TRACE_METHODS = [evm_stackTrace] as const

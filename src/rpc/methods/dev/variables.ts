/** Methods that read and write variables of contracts by name. */
import { z } from 'zod'
import { readVariables } from '../../../execution/variables.ts'
import { readState } from '../../block-lookup.ts'
import { anyText } from '../../json-forms.ts'
import { method } from '../../method.ts'
import { arrayOf, expected, optional, orNull, type Parameter, scalar } from '../../parameter.ts'
import { layoutsOf } from '../../simulation-options.ts'
import { StateBlock } from '../../wire/block-reference.ts'
import { Address } from '../../wire/scalars.ts'
import { ShownValueSchema, toRpcVariables, Variables } from '../../wire/variables.ts'

/** Paths of one call. */
const MOST_PATHS = 4096
/** Characters of a path. */
const MAX_PATH = 4096

const Path: Parameter<string> = scalar({
  form: anyText({ least: 1, most: MAX_PATH }),
  description: 'a variable, or a part of one: `owner`, `balances[0x…]`, `points[3].x`',
  decode: (path) => path,
  refusal: (_, name) => expected(name, 'the path of a variable'),
})

/** The contract of the examples, registered with its layout. */
const STORE = '0x00000000000000000000000000000000000dead2'
const ARTIFACT = {
  abi: [],
  storageLayout: {
    storage: [{ label: 'total', slot: '0', offset: 0, type: 't_uint256' }],
    types: { t_uint256: { encoding: 'inplace', label: 'uint256', numberOfBytes: '32' } },
  },
}

export const evm_setVariables = method({
  name: 'evm_setVariables',
  changesState: true,
  summary:
    'Writes variables of a contract by name, in the state after the head, without mining a block: `{ "owner": "0x…", "balances[0x…]": "5", "point.x": 1 }`. Arrays are replaced as a whole; members of structs and keys of mappings that are absent keep their values. The contract\'s storage layout has to be known (--abi, evm_setAbi); behind a proxy it is the implementation\'s.',
  params: { address: Address, variables: Variables },
  result: () => z.literal(true),
  examples: [
    {
      after: [{ method: 'evm_setAbi', params: [STORE, ARTIFACT] }],
      params: [STORE, { total: '1000000000000000000' }],
      result: true,
    },
  ],
  async run({ address, variables }, { engine }) {
    const named = { values: variables, layoutAt: layoutsOf(engine), path: 'variables' }
    await engine.dev.editState([{ address, variables: named }])
    return true as const
  },
})

export const evm_getVariables = method({
  name: 'evm_getVariables',
  summary:
    'The values of variables of a contract by name, all but its mappings unless paths are given: integers in decimal text, bytes and addresses in hex, structs as objects, arrays as lists. The storage layout has to be known as for evm_setVariables.',
  params: {
    address: Address,
    paths: optional(
      orNull(arrayOf(Path, { most: MOST_PATHS, indexed: true, what: 'a list of paths' }), undefined),
      null,
    ),
    block: optional(StateBlock, 'latest'),
  },
  result: () => z.record(z.string(), ShownValueSchema),
  errors: ['block-not-found'],
  examples: [
    {
      after: [{ method: 'evm_setAbi', params: [STORE, ARTIFACT] }],
      params: [STORE],
      result: { total: '0' },
    },
  ],
  run({ address, paths, block }, { engine }) {
    const named = { paths, layoutAt: layoutsOf(engine), path: 'paths' }
    return readState(block, engine, (state) => toRpcVariables(readVariables(state, address, named)))
  },
})

/** The methods of this file, in the order of the document. */
export const VARIABLE_METHODS = [evm_setVariables, evm_getVariables] as const

/** The list of methods that this node knows. */
import type { AnyMethod } from '../method.ts'
import { CLIENT_METHODS } from './eth/client.ts'
import { STATE_METHODS } from './eth/state.ts'

/** All methods; what of them is open is the dispatcher's business. */
export const METHODS: readonly AnyMethod[] = [...CLIENT_METHODS, ...STATE_METHODS]

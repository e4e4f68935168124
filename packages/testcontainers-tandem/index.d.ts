import { AbstractStartedContainer, GenericContainer } from 'testcontainers'

/** A container with a node, which is in memory and open to this machine unless flags say otherwise. */
export class TandemContainer extends GenericContainer {
  /** `image` is the one that the Dockerfile of Tandem builds; `tandem` unless given. */
  constructor(image?: string)
  /** Adds flags of `tandem start`. */
  withFlags(...flags: readonly string[]): this
  /** Whose behaviour the defaults follow. */
  withPreset(preset: 'rsk' | 'hardhat' | 'anvil'): this
  /** The seed of keys and ids. */
  withSeed(seed: string): this
  /** Well-known contracts that the chain begins with. */
  withPredeploys(...names: readonly string[]): this
  override start(): Promise<StartedTandemContainer>
}

/** A container whose node is ready. */
export class StartedTandemContainer extends AbstractStartedContainer {
  /** Where the node answers over HTTP. */
  getRpcUrl(): string
  /** Where it answers over WebSocket. */
  getWsUrl(): string
}

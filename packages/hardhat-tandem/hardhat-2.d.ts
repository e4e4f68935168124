/** Hardhat 2: the key `tandem` of the configuration, the options of the node of the network `tandem`. */
import 'hardhat/types/config'
import type { NodeOptions } from 'tandem'

declare module 'hardhat/types/config' {
  interface HardhatUserConfig {
    tandem?: NodeOptions
  }
  interface HardhatConfig {
    tandem: NodeOptions
  }
}

/** Hardhat 3: the plugin, and the key `tandem` of the configuration, the options of the nodes of the network `tandem`. */
import 'hardhat/types/config'
import type { HardhatPlugin } from 'hardhat/types/plugins'
import type { NodeOptions } from 'tandem'

declare module 'hardhat/types/config' {
  interface HardhatUserConfig {
    tandem?: NodeOptions
  }
  interface HardhatConfig {
    tandem: NodeOptions
  }
}

export declare const tandem: HardhatPlugin

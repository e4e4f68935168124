/** The suites: sources from npm, the compiler, and what runs. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const require = createRequire(import.meta.url)

/** The part of ds-test that solmate's tests use; the package is not on npm. */
const DS_TEST = `// SPDX-License-Identifier: MIT
pragma solidity >=0.5.0;
contract DSTest {
    event log(string);
    event log_named_uint(string key, uint256 val);
    event log_named_decimal_uint(string key, uint256 val, uint256 decimals);
    event log_named_address(string key, address val);
    event log_named_string(string key, string val);
    event log_named_bytes(string key, bytes val);
    event log_named_bytes32(string key, bytes32 val);
    address internal constant HEVM_ADDRESS = address(uint160(uint256(keccak256("hevm cheat code"))));
    bool public failed;
    function fail() internal { failed = true; }
    function assertTrue(bool a) internal { if (!a) fail(); }
    function assertTrue(bool a, string memory) internal { if (!a) fail(); }
    function assertEq(address a, address b) internal { if (a != b) fail(); }
    function assertEq(bytes32 a, bytes32 b) internal { if (a != b) fail(); }
    function assertEq(uint256 a, uint256 b) internal { if (a != b) fail(); }
    function assertEq(bytes memory a, bytes memory b) internal { if (keccak256(a) != keccak256(b)) fail(); }
    function assertEq(int256 a, int256 b) internal { if (a != b) fail(); }
    function assertEq(string memory a, string memory b) internal { if (keccak256(bytes(a)) != keccak256(bytes(b))) fail(); }
    function assertEq0(bytes memory a, bytes memory b) internal { if (keccak256(a) != keccak256(b)) fail(); }
    function assertEq(uint256 a, uint256 b, string memory) internal { if (a != b) fail(); }
    function assertEq(address a, address b, string memory) internal { if (a != b) fail(); }
    function assertGt(uint256 a, uint256 b) internal { if (a <= b) fail(); }
    function assertGe(uint256 a, uint256 b) internal { if (a < b) fail(); }
    function assertLt(uint256 a, uint256 b) internal { if (a >= b) fail(); }
    function assertLe(uint256 a, uint256 b) internal { if (a > b) fail(); }
}
`

/** Contracts whose functions are called: OpenZeppelin's are abstract. */
const OPENZEPPELIN = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {ERC20Capped} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Capped.sol";
import {ERC20Pausable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Pausable.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Enumerable} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Enumerable.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {Ownable2Step, Ownable} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {VestingWallet} from "@openzeppelin/contracts/finance/VestingWallet.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
contract Token is ERC20, ERC20Burnable, ERC20Capped, ERC20Pausable, ERC20Permit {
    constructor() ERC20("Token", "T") ERC20Capped(1000) ERC20Permit("Token") {}
    function mint(address to, uint256 amount) external { _mint(to, amount); }
    function pause() external { _pause(); }
    function unpause() external { _unpause(); }
    function _update(address a, address b, uint256 v) internal override(ERC20, ERC20Capped, ERC20Pausable) { super._update(a, b, v); }
}
contract Vault is ERC4626 { constructor(ERC20 asset) ERC4626(asset) ERC20("Vault", "V") {} }
contract Nft is ERC721Enumerable {
    constructor() ERC721("Nft", "N") {}
    function mint(address to, uint256 id) external { _safeMint(to, id); }
    function burn(uint256 id) external { _burn(id); }
}
contract Multi is ERC1155 {
    constructor() ERC1155("uri") {}
    function mint(address to, uint256 id, uint256 amount) external { _mint(to, id, amount, ""); }
    function burn(address from, uint256 id, uint256 amount) external { _burn(from, id, amount); }
}
contract Roles is AccessControl {
    constructor() { _grantRole(DEFAULT_ADMIN_ROLE, msg.sender); }
    function guarded() external onlyRole("x") {}
    function setRoleAdmin(bytes32 a, bytes32 b) external { _setRoleAdmin(a, b); }
}
contract Owned is Ownable2Step { constructor() Ownable(msg.sender) {} }
contract Wallet is VestingWallet { constructor() VestingWallet(msg.sender, 0, 10) {} }
contract Uses {
    using EnumerableSet for EnumerableSet.UintSet;
    EnumerableSet.UintSet set;
    function add(uint256 v) external returns (bool) { return set.add(v); }
    function remove(uint256 v) external returns (bool) { return set.remove(v); }
    function values() external view returns (uint256[] memory) { return set.values(); }
    function mulDiv(uint256 a, uint256 b, uint256 c) external pure returns (uint256) { return Math.mulDiv(a, b, c); }
    function sqrt(uint256 a) external pure returns (uint256) { return Math.sqrt(a); }
    function logs(uint256 a) external pure returns (uint256, uint256, uint256) { return (Math.log2(a), Math.log10(a), Math.log256(a)); }
    function modExp(uint256 a, uint256 b, uint256 c) external view returns (bool, uint256) { return Math.tryModExp(a, b, c); }
    function inv(uint256 a, uint256 b) external pure returns (uint256) { return Math.invMod(a, b); }
    function text(uint256 a) external pure returns (string memory) { return Strings.toString(a); }
    function hexText(uint256 a) external pure returns (string memory) { return Strings.toHexString(a); }
    function parse(string memory a) external pure returns (bool, uint256) { return Strings.tryParseUint(a); }
    function verify(bytes32[] memory proof, bytes32 root, bytes32 leaf) external pure returns (bool) { return MerkleProof.verify(proof, root, leaf); }
    function recover(bytes32 h, bytes memory s) external pure returns (address) { return ECDSA.recover(h, s); }
}
`

/** Makes a pair as the factory does; that one, with the instrumented pair in it, is longer than code may be. */
const UNISWAP = `pragma solidity =0.5.16;
import "@uniswap/v2-core/contracts/UniswapV2Pair.sol";
contract Factory {
    address public feeTo;
    UniswapV2Pair public pair;
    constructor(address a, address b) public {
        pair = new UniswapV2Pair();
        pair.initialize(a, b);
    }
    function setFeeTo(address to) external { feeTo = to; }
    function again(address a) external { pair.initialize(a, a); }
}
`

/** The pair of the two tokens, with liquidity, swaps and fees. */
async function usePair(deployed, { accounts, send, read, faceOf }) {
  const [first, second, factory] = deployed
  const pair = {
    address: `0x${(await read(factory.address, factory.abi.encodeFunctionData('pair'))).slice(26)}`,
    abi: faceOf('@uniswap/v2-core/contracts/UniswapV2Pair.sol', 'UniswapV2Pair'),
  }
  const call = (to, name, ...values) =>
    send({ to: to.address, data: to.abi.encodeFunctionData(name, values) })
  for (const fee of [false, true, true, false]) {
    await call(factory, 'setFeeTo', fee ? accounts[2] : `0x${'0'.repeat(40)}`)
    for (const token of [first, second]) await call(token, 'transfer', pair.address, 20_000)
    await call(pair, 'mint', accounts[0])
    await call(first, 'transfer', pair.address, 1000)
    for (const amount of [100, 10_000_000]) await call(pair, 'swap', 0, amount, accounts[1], '0x')
    await call(second, 'transfer', pair.address, 1000)
    await call(pair, 'swap', 100, 0, accounts[1], '0x')
    await call(pair, 'transfer', pair.address, 500)
    await call(pair, 'burn', accounts[0])
    await call(pair, 'skim', accounts[0])
    await call(pair, 'sync')
  }
  deployed.push(pair)
}

/** The sources that files import, from the packages here, with more by path. */
function withImports(roots, more) {
  const sources = {}
  const waiting = [...roots]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (sources[path] !== undefined) continue
    const content = more[path] ?? readFileSync(join(HERE, 'node_modules', path), 'utf8')
    sources[path] = { content }
    for (const [, , imported] of content.matchAll(/import\s+([^;"']*?from\s+)?["']([^"']+)["']/g)) {
      waiting.push(imported.startsWith('.') ? join(path, '..', imported) : imported)
    }
  }
  return sources
}

function solidityIn(folder) {
  return readdirSync(join(HERE, 'node_modules', folder)).flatMap((name) => {
    const path = `${folder}/${name}`
    if (statSync(join(HERE, 'node_modules', path)).isDirectory()) return solidityIn(path)
    return name.endsWith('.sol') ? [path] : []
  })
}

const isSolmate = (path) => path.startsWith('solmate/src/') && !path.includes('/test/')

/**
 * Names, compilers, sources; which of them are compared; and contracts: with a number of rounds in which all functions
 * are called, or `isTest`, whose `test…` functions run behind `setUp`.
 */
export const SUITES = [
  {
    name: 'OpenZeppelin Contracts 5.7.0',
    solc: require('solc'),
    evmVersion: 'cancun',
    sources: () => withImports(['Contracts.sol'], { 'Contracts.sol': OPENZEPPELIN }),
    isCovered: (path) => path.startsWith('@openzeppelin/'),
    contracts: [
      ['Contracts.sol', 'Token', []],
      ['Contracts.sol', 'Vault', ['Token']],
      ['Contracts.sol', 'Nft', []],
      ['Contracts.sol', 'Multi', []],
      ['Contracts.sol', 'Roles', []],
      ['Contracts.sol', 'Owned', []],
      ['Contracts.sol', 'Wallet', []],
      ['Contracts.sol', 'Uses', []],
    ],
    rounds: 12,
  },
  {
    name: 'Uniswap v2 core 1.0.1',
    fixture: 'uniswap-v2',
    solc: require('solc-0.5.16'),
    evmVersion: 'istanbul',
    sources: () =>
      withImports(['Factory.sol', '@uniswap/v2-core/contracts/test/ERC20.sol'], { 'Factory.sol': UNISWAP }),
    isCovered: (path) =>
      path.startsWith('@uniswap/') && !path.includes('/test/') && !path.includes('/interfaces/'),
    contracts: [
      ['@uniswap/v2-core/contracts/test/ERC20.sol', 'ERC20', [1000000]],
      ['@uniswap/v2-core/contracts/test/ERC20.sol', 'ERC20', [1000000], 'Other'],
      ['Factory.sol', 'Factory', ['ERC20', 'Other']],
    ],
    rounds: 25,
    prepare: usePair,
  },
  {
    name: 'solmate 6.8.0, its own tests',
    solc: require('solc-0.8.15'),
    evmVersion: 'london',
    sources: () => withImports(solidityIn('solmate/src'), { 'ds-test/test.sol': DS_TEST }),
    isCovered: isSolmate,
    isTest: true,
    rounds: 3,
  },
]

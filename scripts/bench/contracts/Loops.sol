// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// Loops of one kind of work each, for the rows of the EVM. Every function takes the number of iterations.
contract Loops {
    mapping(uint256 => uint256) private cells;

    function arithmetic(uint256 rounds) external pure returns (uint256 x) {
        unchecked {
            for (uint256 i = 0; i < rounds; i++) x = (x * 3 + i) ^ (x >> 7);
        }
    }

    /// Compiled with the checks for overflow and for a divisor of zero.
    function checkedArithmetic(uint256 rounds) external pure returns (uint256 x) {
        for (uint256 i = 0; i < rounds; i++) x = (x * 3 + i) / 4;
    }

    function memoryWords(uint256 rounds) external pure returns (uint256 x) {
        uint256[] memory words = new uint256[](64);
        unchecked {
            for (uint256 i = 0; i < rounds; i++) {
                words[i & 63] = x + i;
                x += words[(i + 32) & 63];
            }
        }
    }

    function keccak(uint256 rounds) external pure returns (bytes32 x) {
        unchecked {
            for (uint256 i = 0; i < rounds; i++) x = keccak256(abi.encode(x, i));
        }
    }

    function storageLoads(uint256 rounds) external view returns (uint256 x) {
        unchecked {
            for (uint256 i = 0; i < rounds; i++) x += cells[i & 63];
        }
    }

    function storageStores(uint256 rounds) external {
        unchecked {
            for (uint256 i = 0; i < rounds; i++) cells[i & 63] = i;
        }
    }

    function calls(uint256 rounds) external view returns (uint256 x) {
        unchecked {
            for (uint256 i = 0; i < rounds; i++) x += this.one();
        }
    }

    function one() external pure returns (uint256) {
        return 1;
    }
}

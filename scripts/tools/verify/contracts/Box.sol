// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

library Sums {
    function sum(uint256 a, uint256 b) external pure returns (uint256) {
        return a + b;
    }
}

contract Box {
    uint256 public immutable start;
    address public immutable owner = msg.sender;
    string public name;
    uint256 public value;

    constructor(uint256 start_, string memory name_) {
        start = start_;
        name = name_;
    }

    function grow(uint256 by) external {
        value = Sums.sum(value, by);
    }
}

contract Twin {
    uint256 public value;
}

contract OtherTwin {
    uint256 public value;
}

/** ERC-1967, without an upgrade. */
contract Proxy {
    constructor(address implementation) {
        assembly {
            sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, implementation)
        }
    }

    fallback() external payable {
        assembly {
            let implementation := sload(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc)
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), implementation, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}

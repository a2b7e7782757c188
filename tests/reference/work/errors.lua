-- SPDX-License-Identifier: MIT
local n = 0
for _ = 1, 1e5 do
	if not pcall(error, "x") then
		n = n + 1
	end
end
print(n)

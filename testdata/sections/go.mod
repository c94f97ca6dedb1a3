module example.com/sections

go 1.25

module memory

go 1.21

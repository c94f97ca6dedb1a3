module example.com/detect

go 1.24

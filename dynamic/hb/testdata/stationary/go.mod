module example.com/stationary

go 1.25

module races

go 1.21

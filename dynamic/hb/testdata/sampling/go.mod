module sampling

go 1.21

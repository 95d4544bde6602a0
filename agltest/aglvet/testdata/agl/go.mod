module example.com/agl

go 1.26

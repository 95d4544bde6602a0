module example.com/odd

go 1.26

require example.com/agl v0.0.0

replace example.com/agl => ../agl
